"""`ReconcileUnknowns`: what waits for a person is looked up again and again, and completed when it is found."""

import pytest

from domain.operations import Finding, Outcome, State
from tests.application.envelopes import cancelled, confirmed
from tests.application.shop import Shop

KEY = "shipment-request:o-1"


def in_doubt(shop: Shop, *order_ids: str, works: bool = True) -> None:
    """Parcels whose requests were answered by silence."""
    for order_id in order_ids:
        shop.carrier.will_answer(f"shipment-request:{order_id}", Outcome.UNKNOWN, works=works)
    shop.tell(*(confirmed(order_id) for order_id in order_ids))
    shop.ship()


def test_what_is_found_is_completed_without_a_person(keyless_shop: Shop) -> None:
    """With the reference that the look-up gave, and a note of who decided."""
    in_doubt(keyless_shop, "o-1")
    assert keyless_shop.reconcile.execute() == 1
    assert (keyless_shop.request().state, keyless_shop.request().result) == (State.COMPLETED, {"reference": "SH-1"})
    last = keyless_shop.books.operations.story(KEY)[-1]
    assert (last["what"], last["who"], last["detail"]) == ("decided: completed", "ikkai", "found by look-up; look-up")
    assert keyless_shop.carrier.received == [KEY]


@pytest.mark.parametrize("finding", [Finding.NOT_FOUND, Finding.RUNNING, Finding.NO_ANSWER])
def test_what_is_not_found_goes_on_waiting(keyless_shop: Shop, finding: Finding) -> None:
    """For a person, or for a later look-up: not found proves nothing."""
    in_doubt(keyless_shop, "o-1")
    keyless_shop.carrier.will_find(KEY, finding)
    assert keyless_shop.reconcile.execute() == 0
    assert (keyless_shop.request().state, keyless_shop.request().reason) == (
        State.NEEDS_CONFIRMATION,
        "scripted unknown",
    )
    assert keyless_shop.ship() == 0
    keyless_shop.clock.advance(60)
    assert keyless_shop.reconcile.execute() == 1


def test_nobody_is_asked_too_often(keyless_shop: Shop) -> None:
    """Once a minute is enough."""
    in_doubt(keyless_shop, "o-1", works=False)
    for seconds in (0, 30, 29, 1):
        keyless_shop.clock.advance(seconds)
        keyless_shop.reconcile.execute()
    assert keyless_shop.carrier.looked_up == [KEY, KEY]


def test_nothing_in_doubt_asks_nobody(keyless_shop: Shop) -> None:
    """What is settled, or due, is not looked up."""
    keyless_shop.tell(confirmed("o-1"), confirmed("o-2"))
    keyless_shop.worker().execute(1)
    assert (keyless_shop.reconcile.execute(), keyless_shop.carrier.looked_up) == (0, [])


def test_only_so_many_are_looked_up_at_once_and_all_in_the_end(keyless_shop: Shop) -> None:
    """Those that were not found do not keep the others from their turn."""
    in_doubt(keyless_shop, "o-1", "o-2", works=False)
    keyless_shop.clock.advance(1)
    in_doubt(keyless_shop, "o-3", works=True)
    assert [keyless_shop.reconcile.execute(2), keyless_shop.reconcile.execute(2)] == [0, 1]
    assert keyless_shop.request("o-3").state is State.COMPLETED


def test_a_person_who_decides_during_the_look_up_is_not_overruled(keyless_shop: Shop) -> None:
    """What was decided stays decided."""
    in_doubt(keyless_shop, "o-1")

    def decide() -> None:
        keyless_shop.decide.resolve(KEY, reference="SH-by-hand", by="花子", evidence="phone call")

    keyless_shop.carrier.during_look_up = decide
    assert keyless_shop.reconcile.execute() == 0
    assert keyless_shop.request().result == {"reference": "SH-by-hand"}


def test_what_the_carrier_itself_referred_to_a_person_is_left_to_one(shop: Shop) -> None:
    """Whatever a look-up finds later: only somebody who looked closes it."""
    shop.tell(confirmed())
    shop.ship()
    shop.carrier.bookings[0].status = "left"
    shop.tell(cancelled())
    shop.stop_parcels()
    assert (shop.reconcile.execute(), shop.cancellation().state) == (0, State.NEEDS_CONFIRMATION)
    shop.carrier.bookings[0].status = "cancelled"
    shop.clock.advance(60)
    assert (shop.reconcile.execute(), shop.cancellation().state) == (0, State.NEEDS_CONFIRMATION)
    shop.decide.resolve(shop.cancellation().key, reference="called back", by="花子", evidence="seen at the carrier")
    assert shop.parcels() == {1: "cancelled"}
