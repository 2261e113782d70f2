"""`PerformOperations` at a carrier that knows no keys: at most one send, then a person decides."""

import pytest

from domain.operations import Finding, Outcome, State
from tests.application.envelopes import confirmed
from tests.application.killed import killed_at_unit, killed_during_the_call
from tests.application.shop import Shop

KEY = "shipment-request:o-1"


@pytest.mark.parametrize("works", [True, False], ids=["booked", "not booked"])
@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.UNAVAILABLE])
def test_a_parcel_in_doubt_waits_for_a_person(keyless_shop: Shop, outcome: Outcome, *, works: bool) -> None:
    """It is sent once, whatever happened to it: every 5xx is a doubt (B42)."""
    keyless_shop.tell(confirmed())
    keyless_shop.carrier.will_answer(KEY, outcome, works=works)
    for _ in range(5):
        keyless_shop.ship()
        keyless_shop.clock.advance(3600)
    assert keyless_shop.carrier.received == [KEY]
    assert (keyless_shop.request().state, keyless_shop.request().reason) == (
        State.NEEDS_CONFIRMATION,
        f"scripted {outcome}",
    )
    assert keyless_shop.parcels() == {1: "needs_confirmation"}


def test_what_was_surely_not_sent_may_be_sent(keyless_shop: Shop) -> None:
    """A refused connection, or a 429, is no send; the next one is the first."""
    keyless_shop.tell(confirmed())
    for outcome in (Outcome.NOT_SENT, Outcome.THROTTLED, Outcome.NOT_SENT):
        keyless_shop.carrier.will_answer(KEY, outcome)
        keyless_shop.ship()
        keyless_shop.clock.advance(600)
    keyless_shop.ship()
    assert (keyless_shop.request().state, keyless_shop.carrier.looked_up) == (State.COMPLETED, [])
    assert len(keyless_shop.carrier.bookings) == 1


def test_a_running_request_that_is_not_found_any_more_is_not_sent_again(keyless_shop: Shop) -> None:
    """Not found proves nothing where no key tells two requests apart."""
    keyless_shop.tell(confirmed())
    keyless_shop.carrier.will_answer(KEY, Outcome.RUNNING, result={"command_id": "c1"})
    keyless_shop.ship()
    keyless_shop.clock.advance(600)
    keyless_shop.ship()
    assert (keyless_shop.request().state, keyless_shop.carrier.received) == (State.NEEDS_CONFIRMATION, [KEY])
    assert keyless_shop.request().result == {"command_id": "c1"}


@pytest.mark.parametrize("finding", [Finding.NOT_FOUND, Finding.FOUND, Finding.NO_ANSWER])
def test_a_worker_killed_during_the_call_leaves_a_doubt(keyless_shop: Shop, finding: Finding) -> None:
    """A person decides, unless a look-up finds the parcel; it is never sent a second time (B25)."""
    keyless_shop.tell(confirmed())
    killed_during_the_call(keyless_shop, keyless_shop.ship)
    keyless_shop.clock.advance(keyless_shop.timing.lease_seconds + 1)
    keyless_shop.sweep.execute()
    assert keyless_shop.request().state is State.NEEDS_CONFIRMATION
    keyless_shop.carrier.will_find(KEY, finding, result={"reference": "SH-1"})
    keyless_shop.reconcile.execute()
    keyless_shop.clock.advance(3600)
    keyless_shop.ship()
    found = finding is Finding.FOUND
    assert keyless_shop.request().state is (State.COMPLETED if found else State.NEEDS_CONFIRMATION)
    assert (keyless_shop.carrier.received, len(keyless_shop.carrier.bookings)) == ([KEY], 1)


def test_a_worker_killed_before_the_send_leaves_no_doubt(keyless_shop: Shop) -> None:
    """Never gated is never sent: it is simply due again."""
    keyless_shop.tell(confirmed())
    killed_at_unit(keyless_shop, 2, keyless_shop.ship)
    keyless_shop.clock.advance(keyless_shop.timing.lease_seconds + 1)
    keyless_shop.sweep.execute()
    keyless_shop.ship()
    assert (keyless_shop.parcels(), len(keyless_shop.carrier.bookings)) == ({1: "booked"}, 1)
