"""What a look-up finds, whoever asks: the worker before it sends again, or the reconciler."""

from collections.abc import Callable

import pytest

from domain.operations import Finding, Outcome, State
from tests.application.envelopes import cancelled, confirmed
from tests.application.shop import Shop

KEY = "shipment-request:o-1"


def asked_by_a_worker(shop: Shop) -> None:
    """The parcel is still being worked on, as far as we know."""
    shop.carrier.will_answer(KEY, Outcome.RUNNING, result={"command_id": "c1"})
    shop.ship()
    shop.clock.advance(600)


def asked_by_the_reconciler(shop: Shop) -> None:
    """Nobody knows what became of the parcel."""
    shop.carrier.will_answer(KEY, Outcome.UNKNOWN, result={})
    shop.ship()


Way = tuple[Callable[[Shop], None], Callable[[Shop], object]]
WAYS: list[Way] = [
    (asked_by_a_worker, lambda shop: shop.ship()),
    (asked_by_the_reconciler, lambda shop: shop.reconcile.execute()),
]
BY_BOTH = pytest.mark.parametrize(("before", "look_up"), WAYS, ids=["worker", "reconciler"])


@BY_BOTH
def test_a_parcel_that_is_found_is_booked(
    keyless_shop: Shop, before: Callable[[Shop], None], look_up: Callable[[Shop], object]
) -> None:
    """Under the reference that is found."""
    keyless_shop.tell(confirmed())
    before(keyless_shop)
    keyless_shop.carrier.will_find(KEY, Finding.FOUND, result={"reference": "SH-7"})
    look_up(keyless_shop)
    assert keyless_shop.request().state is State.COMPLETED
    assert keyless_shop.request().result["reference"] == "SH-7"


@BY_BOTH
def test_a_parcel_that_was_turned_down_meanwhile_is_refused(
    keyless_shop: Shop, before: Callable[[Shop], None], look_up: Callable[[Shop], object]
) -> None:
    """Accepted at first, then definitely not done: nobody has to decide."""
    keyless_shop.tell(confirmed())
    before(keyless_shop)
    keyless_shop.carrier.will_find(KEY, Finding.REFUSED)
    look_up(keyless_shop)
    assert (keyless_shop.request().state, keyless_shop.request().reason) == (State.REFUSED, "scripted refused")
    assert keyless_shop.carrier.received == [KEY]


@BY_BOTH
def test_a_finding_that_does_not_fit_is_left_to_a_person(
    keyless_shop: Shop, before: Callable[[Shop], None], look_up: Callable[[Shop], object]
) -> None:
    """And is not looked up again."""
    keyless_shop.tell(confirmed())
    before(keyless_shop)
    keyless_shop.carrier.will_find(KEY, Finding.FLAGGED)
    look_up(keyless_shop)
    looked_up = len(keyless_shop.carrier.looked_up)
    keyless_shop.clock.advance(86_400)
    look_up(keyless_shop)
    keyless_shop.reconcile.execute()
    assert (keyless_shop.request().state, keyless_shop.request().reason) == (
        State.NEEDS_CONFIRMATION,
        "scripted flagged",
    )
    assert len(keyless_shop.carrier.looked_up) == looked_up


def test_what_the_carrier_referred_to_a_person_is_closed_when_it_did_not_happen(shop: Shop) -> None:
    """A parcel that has left is not asked to stop again."""
    shop.tell(confirmed())
    shop.ship()
    shop.carrier.bookings[0].status = "left"
    shop.tell(cancelled())
    shop.stop_parcels()
    shop.decide.resolve(shop.cancellation().key, reference=None, by="花子", evidence="it has been delivered")
    assert (shop.cancellation().state, shop.stop_parcels()) == (State.REFUSED, 0)
    assert shop.parcels() == {1: "booked"}


def test_a_worker_that_is_stopping_writes_what_it_knows_and_sends_nothing_more(shop: Shop) -> None:
    """What did not come to its turn is due at once for others, and no attempt is used up."""
    shop.tell(*(confirmed(f"o-{number}") for number in range(1, 5)))
    worker = shop.worker(at_once=1)
    worker.execute(10, stopping=lambda: len(shop.carrier.received) >= 2)
    assert [shop.request(f"o-{number}").state for number in range(1, 5)] == [
        State.COMPLETED,
        State.COMPLETED,
        State.READY,
        State.READY,
    ]
    held_back = shop.request("o-4")
    assert (held_back.attempts, held_back.was_sent, held_back.reason) == (
        0,
        False,
        "held back: this worker is stopping",
    )
    assert shop.ship() == 2
    assert len(shop.carrier.bookings) == 4
