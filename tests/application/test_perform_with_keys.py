"""`PerformOperations` at a carrier that honours keys: what is in doubt is looked up, then sent again under its key."""

import pytest

from domain.operations import Finding, Outcome, State
from tests.application.envelopes import confirmed
from tests.application.killed import killed_at_unit, killed_during_the_call
from tests.application.shop import Shop

KEY = "shipment-request:o-1"
IN_DOUBT = [Outcome.UNKNOWN, Outcome.UNAVAILABLE]


def wait(shop: Shop, seconds: float = 600) -> None:
    """Long enough for a retry, well inside the key's window."""
    shop.clock.advance(seconds)


@pytest.mark.parametrize("outcome", IN_DOUBT)
def test_a_parcel_in_doubt_that_is_found_is_not_sent_again(shop: Shop, outcome: Outcome) -> None:
    """Looked up first: one request, one booking, booked (B42, B44)."""
    shop.tell(confirmed())
    shop.carrier.will_answer(KEY, outcome, works=True)
    shop.ship()
    assert (shop.request().state, shop.request().attempts, shop.parcels()) == (State.READY, 1, {1: "requested"})
    wait(shop)
    shop.ship()
    assert (shop.request().state, shop.request().result) == (State.COMPLETED, {"reference": "SH-1"})
    assert (shop.carrier.received, shop.carrier.looked_up) == ([KEY], [KEY])


@pytest.mark.parametrize("outcome", IN_DOUBT)
def test_a_parcel_in_doubt_that_is_not_found_is_sent_again_under_its_key(shop: Shop, outcome: Outcome) -> None:
    """With the same body, after the look-up."""
    shop.tell(confirmed())
    body = shop.request().request
    shop.carrier.will_answer(KEY, outcome)
    shop.ship()
    wait(shop)
    shop.ship()
    assert (shop.carrier.received, shop.carrier.looked_up) == ([KEY, KEY], [KEY])
    assert (shop.request().state, shop.request().request, shop.request().attempts) == (State.COMPLETED, body, 2)
    assert len(shop.carrier.booked(KEY)) == 1


def test_a_look_up_that_lies_leads_to_no_second_booking(shop: Shop) -> None:
    """The carrier knows the key, and answers what it answered first."""
    shop.tell(confirmed())
    shop.carrier.will_answer(KEY, Outcome.UNKNOWN, works=True)
    shop.ship()
    shop.carrier.will_find(KEY, Finding.NOT_FOUND)
    wait(shop)
    shop.ship()
    assert (shop.carrier.received, len(shop.carrier.bookings)) == ([KEY, KEY], 1)
    assert shop.request().result == {"reference": "SH-1"}


def test_a_parcel_in_doubt_is_not_retried_at_once(shop: Shop) -> None:
    """Each time it waits longer."""
    shop.tell(confirmed())
    waits = []
    for _ in range(2):
        shop.carrier.will_answer(KEY, Outcome.UNAVAILABLE)
        shop.ship()
        next_at = shop.request().next_at
        assert next_at is not None
        waits.append((next_at - shop.clock.now()).total_seconds())
        assert shop.ship() == 0
        shop.clock.set(next_at)
    assert 1 <= waits[0] < waits[1] <= 10


@pytest.mark.parametrize("outcome", IN_DOUBT)
def test_a_doubt_that_never_ends_goes_to_a_person(shop: Shop, outcome: Outcome) -> None:
    """After as many attempts as are allowed; a carrier that repeats a stored 500 is not asked for ever."""
    shop.tell(confirmed())
    for _ in range(10):
        shop.carrier.will_answer(KEY, outcome)
        shop.ship()
        wait(shop)
    assert shop.carrier.received == [KEY] * shop.retry_policy.max_attempts
    assert shop.parcels() == {1: "needs_confirmation"}


@pytest.mark.parametrize(("hours", "sent_again"), [(22.9, True), (23.1, False)])
def test_a_key_that_may_be_forgotten_is_not_sent_again(shop: Shop, hours: float, *, sent_again: bool) -> None:
    """Past the window, with a margin, the same key would be a new parcel: a person decides (trap 19)."""
    shop.tell(confirmed())
    shop.carrier.will_answer(KEY, Outcome.UNKNOWN)
    shop.ship()
    shop.clock.advance(hours * 3600)
    shop.ship()
    assert shop.carrier.looked_up == [KEY]
    assert shop.carrier.received == [KEY] * (2 if sent_again else 1)
    assert shop.request().state is (State.COMPLETED if sent_again else State.NEEDS_CONFIRMATION)


def test_the_window_begins_with_the_first_send(shop: Shop) -> None:
    """A later attempt does not make the key younger."""
    shop.tell(confirmed())
    for hours in (20, 20):
        shop.carrier.will_answer(KEY, Outcome.UNKNOWN)
        shop.ship()
        shop.clock.advance(hours * 3600)
    shop.ship()
    assert (shop.carrier.received, shop.request().state) == ([KEY, KEY], State.NEEDS_CONFIRMATION)


def test_a_parcel_found_after_the_window_is_booked(shop: Shop) -> None:
    """A look-up needs no key."""
    shop.tell(confirmed())
    shop.carrier.will_answer(KEY, Outcome.UNKNOWN, works=True)
    shop.ship()
    shop.carrier.forget_keys()
    shop.clock.advance(30 * 86_400)
    shop.ship()
    assert (shop.request().state, len(shop.carrier.bookings)) == (State.COMPLETED, 1)


def test_what_was_surely_not_sent_the_second_time_may_still_have_arrived_the_first(shop: Shop) -> None:
    """It is looked up before every send after the first that may have arrived."""
    shop.tell(confirmed())
    shop.carrier.will_answer(KEY, Outcome.UNKNOWN)
    shop.carrier.will_answer(KEY, Outcome.NOT_SENT)
    for _ in range(3):
        shop.ship()
        wait(shop)
    assert (shop.carrier.looked_up, shop.carrier.received) == ([KEY, KEY], [KEY, KEY, KEY])
    assert shop.request().state is State.COMPLETED


def test_a_worker_killed_during_the_call_books_one_parcel(shop: Shop) -> None:
    """The sweep makes it due again, the look-up finds it (B25, B47)."""
    shop.tell(confirmed("o-1"), confirmed("o-2"))
    killed_during_the_call(shop, shop.ship)
    assert shop.ship() == 0
    shop.clock.advance(shop.timing.lease_seconds + 1)
    assert shop.sweep.execute() == 2
    shop.ship()
    assert shop.parcels("o-1") == shop.parcels("o-2") == {1: "booked"}
    assert (len(shop.carrier.bookings), len(shop.carrier.received)) == (2, 2)


@pytest.mark.parametrize("unit", [2, 3], ids=["after the claim", "after the answer"])
def test_a_worker_killed_elsewhere_books_one_parcel(shop: Shop, unit: int) -> None:
    """Whether it had claimed only, or read an answer that it could not write down."""
    shop.tell(confirmed())
    killed_at_unit(shop, unit, shop.ship)
    assert shop.request().state is State.PROCESSING
    shop.clock.advance(shop.timing.lease_seconds + 1)
    shop.sweep.execute()
    shop.ship()
    assert (shop.parcels(), len(shop.carrier.bookings), len(shop.carrier.received)) == ({1: "booked"}, 1, 1)


def test_work_that_kills_its_worker_every_time_ends(shop: Shop) -> None:
    """Attempts are counted before the work: after so many it is parked, and the others go on (B52)."""
    shop.tell(confirmed())
    for _ in range(shop.retry_policy.max_attempts):
        killed_at_unit(shop, 2, shop.ship)
        shop.clock.advance(shop.timing.lease_seconds + 1)
        shop.sweep.execute()
    shop.tell(confirmed("o-2"))
    assert shop.ship() == 1
    assert (shop.parcels("o-1"), shop.parcels("o-2")) == ({1: "parked"}, {1: "booked"})
