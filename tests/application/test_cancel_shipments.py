"""`ShipmentCancelPerformer`: a parcel is stopped when it is known what became of its request."""

import pytest

from domain.operations import Outcome, State
from tests.application.envelopes import cancelled, confirmed
from tests.application.killed import killed_during_the_call
from tests.application.shop import Shop

KEY = "shipment-cancel:o-1"


def shipped_then_cancelled(shop: Shop) -> None:
    shop.tell(confirmed())
    shop.ship()
    shop.tell(cancelled())


def test_the_carrier_is_asked_once(shop: Shop) -> None:
    """Under a key of its own."""
    shipped_then_cancelled(shop)
    assert (shop.stop_parcels(), shop.stop_parcels()) == (1, 0)
    assert shop.carrier.received == ["shipment-request:o-1", KEY]
    assert shop.cancellation().state is State.COMPLETED


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.RUNNING, Outcome.THROTTLED])
def test_a_parcel_that_is_not_settled_is_not_stopped_yet(shop: Shop, outcome: Outcome) -> None:
    """The cancellation waits, without using up attempts, until the parcel is known to be booked."""
    shop.tell(confirmed())
    shop.carrier.will_answer("shipment-request:o-1", outcome, works=outcome is not Outcome.THROTTLED)
    shop.carrier.during_call = lambda: shop.tell(cancelled())
    shop.ship()
    shop.carrier.during_call = shop.transactions.assert_none_open
    for _ in range(shop.retry_policy.max_attempts * 2):
        assert shop.stop_parcels() == 1
        assert (shop.cancellation().state, shop.cancellation().attempts) == (State.READY, 0)
        shop.clock.advance(shop.retry_policy.max_retry_seconds * 1.25)
    assert KEY not in shop.carrier.received
    shop.ship()
    shop.stop_parcels()
    assert shop.cancellation().state is State.COMPLETED
    assert {booking.status for booking in shop.carrier.bookings} <= {"cancelled"}
    assert shop.parcels() == {1: "cancelled"}


def test_a_parcel_the_carrier_never_took_on_needs_no_stopping(shop: Shop) -> None:
    """A definite no to the request is enough."""
    shop.tell(confirmed())
    shop.carrier.will_answer("shipment-request:o-1", Outcome.REFUSED)
    shop.carrier.during_call = lambda: shop.tell(cancelled())
    shop.ship()
    shop.carrier.during_call = shop.transactions.assert_none_open
    shop.stop_parcels()
    assert (shop.cancellation().state, shop.cancellation().reason) == (State.COMPLETED, "the parcel was never taken on")
    assert KEY not in shop.carrier.received


def test_a_cancellation_in_doubt_is_looked_up(shop: Shop) -> None:
    """Found cancelled, it is not asked for again; not found, it is, under its key."""
    shipped_then_cancelled(shop)
    shop.carrier.will_answer(KEY, Outcome.UNKNOWN)
    shop.carrier.will_answer(KEY, Outcome.UNKNOWN, works=True)
    for _ in range(3):
        shop.stop_parcels()
        shop.clock.advance(600)
    assert shop.carrier.received == ["shipment-request:o-1", KEY, KEY]
    assert (shop.cancellation().state, shop.parcels()) == (State.COMPLETED, {1: "cancelled"})


def test_a_cancellation_in_doubt_without_keys_waits_for_a_person(keyless_shop: Shop) -> None:
    """Until a look-up sees the parcel cancelled."""
    shipped_then_cancelled(keyless_shop)
    keyless_shop.carrier.will_answer(KEY, Outcome.UNKNOWN, works=True)
    keyless_shop.stop_parcels()
    assert keyless_shop.parcels() == {1: "needs_confirmation"}
    assert keyless_shop.reconcile.execute() == 1
    assert keyless_shop.parcels() == {1: "cancelled"}


def test_a_worker_killed_while_it_asked_has_stopped_the_parcel(shop: Shop) -> None:
    """The look-up after the sweep sees it."""
    shipped_then_cancelled(shop)
    killed_during_the_call(shop, shop.stop_parcels)
    shop.clock.advance(shop.timing.lease_seconds + 1)
    shop.sweep.execute()
    shop.stop_parcels()
    assert (shop.cancellation().state, shop.carrier.received.count(KEY)) == (State.COMPLETED, 1)


def test_a_cancellation_the_carrier_refuses_leaves_the_parcel_booked(shop: Shop) -> None:
    """What people see is what is so."""
    shipped_then_cancelled(shop)
    shop.carrier.will_answer(KEY, Outcome.REFUSED)
    shop.stop_parcels()
    assert (shop.cancellation().state, shop.parcels()) == (State.REFUSED, {1: "booked"})
