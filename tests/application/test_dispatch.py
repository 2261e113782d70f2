"""The dispatcher: who is rung for, and when nothing is owed."""

import logging

import pytest

from application.dispatch import ORDER_EVENT, Dispatch, OwedWork, RingDueWork
from application.operations import SweepLeases
from domain.errors import Unavailable
from domain.operations import Outcome, State
from domain.shipping import CANCEL, REQUEST
from tests.application.envelopes import cancelled, confirmed
from tests.application.killed import killed_during_the_call
from tests.application.shop import Shop


class FakeDoorbell:
    """`Doorbell` that remembers who was rung for, or is out of order."""

    def __init__(self) -> None:
        self.rung: list[tuple[str, int]] = []
        self.works = True

    def ring(self, kind: str, times: int) -> None:
        if not self.works:
            raise Unavailable("the queue did not answer")
        self.rung.append((kind, times))


@pytest.fixture
def doorbell() -> FakeDoorbell:
    return FakeDoorbell()


@pytest.fixture
def ring(shop: Shop, doorbell: FakeDoorbell) -> RingDueWork:
    """Workers take ten events, or two parcels, at a time; no more than three are rung for."""
    return RingDueWork(shop.transactions, doorbell, {ORDER_EVENT: 10, REQUEST: 2, CANCEL: 2}, most_rings=3)


def owed(shop: Shop) -> int:
    return OwedWork(shop.transactions, [REQUEST, CANCEL]).execute()


def test_nothing_due_rings_for_nobody(ring: RingDueWork, doorbell: FakeDoorbell) -> None:
    """Idle is quiet."""
    assert sum(ring.execute().values()) == 0
    assert doorbell.rung == []


@pytest.mark.parametrize(("events", "rings"), [(1, 1), (10, 1), (11, 2), (30, 3), (31, 3), (500, 3)])
def test_it_rings_once_per_set_up_to_a_few(
    shop: Shop, ring: RingDueWork, doorbell: FakeDoorbell, events: int, rings: int
) -> None:
    """A worker takes a set at a time; more rings than workers would only fill the queue."""
    shop.accept.execute([confirmed(f"o-{number}") for number in range(events)])
    assert ring.execute()[ORDER_EVENT] == events
    assert doorbell.rung == [(ORDER_EVENT, rings)]


def test_each_kind_of_work_is_rung_for(shop: Shop, ring: RingDueWork, doorbell: FakeDoorbell) -> None:
    """Events, parcels and their cancellations, each for what is due of it."""
    shop.tell(confirmed("o-1"))
    shop.ship()
    shop.tell(cancelled("o-1"), confirmed("o-2"), confirmed("o-3"), confirmed("o-4"))
    shop.accept.execute([confirmed("o-5")])
    ring.execute()
    assert sorted(doorbell.rung) == [(ORDER_EVENT, 1), (CANCEL, 1), (REQUEST, 2)]


def test_what_waits_for_its_time_is_not_rung_for(shop: Shop, ring: RingDueWork, doorbell: FakeDoorbell) -> None:
    """Until its time has come."""
    shop.tell(confirmed())
    shop.carrier.will_answer("shipment-request:o-1", Outcome.THROTTLED, retry_after_seconds=300)
    shop.ship()
    ring.execute()
    assert doorbell.rung == []
    shop.clock.advance(300)
    ring.execute()
    assert doorbell.rung == [(REQUEST, 1)]


def test_idle_is_when_nothing_is_due_or_under_way(shop: Shop) -> None:
    """What a dead worker holds is still under way; what waits for its time or a person is not counted."""
    assert owed(shop) == 0
    shop.accept.execute([confirmed("o-1"), confirmed("o-2")])
    assert owed(shop) == 2
    shop.apply.execute()
    assert owed(shop) == 2
    killed_during_the_call(shop, shop.ship)
    assert owed(shop) == 2
    shop.clock.advance(shop.timing.lease_seconds + 1)
    shop.sweep.execute()
    shop.carrier.will_answer("shipment-request:o-1", Outcome.FLAGGED)
    shop.ship()
    assert owed(shop) == 0


@pytest.fixture
def dispatch(shop: Shop, ring: RingDueWork) -> Dispatch:
    return Dispatch(ring, shop.sweep, shop.reconcile)


def test_a_round_sweeps_and_looks_up(keyless_shop: Shop, ring: RingDueWork) -> None:
    """A parcel that was in a dead worker's hands is booked without anybody's doing."""
    keyless_shop.tell(confirmed())
    killed_during_the_call(keyless_shop, keyless_shop.ship)
    keyless_shop.clock.advance(keyless_shop.timing.lease_seconds + 1)
    dispatch = Dispatch(ring, keyless_shop.sweep, keyless_shop.reconcile)
    dispatch.sweep()
    dispatch.reconcile()
    assert keyless_shop.request().state is State.COMPLETED


def test_an_unreachable_queue_only_delays_the_ringing(
    shop: Shop, dispatch: Dispatch, doorbell: FakeDoorbell, caplog: pytest.LogCaptureFixture
) -> None:
    """The next round rings; what is due stays due."""
    shop.accept.execute([confirmed()])
    doorbell.works = False
    with caplog.at_level(logging.WARNING):
        dispatch.ring()
    assert "put off to the next round: the queue did not answer" in caplog.text
    doorbell.works = True
    dispatch.ring()
    assert doorbell.rung == [(ORDER_EVENT, 1)]


def test_an_unreachable_database_only_delays_the_round(
    shop: Shop, dispatch: Dispatch, doorbell: FakeDoorbell, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing of the round brings the dispatcher down."""
    shop.transactions.reachable = False
    with caplog.at_level(logging.WARNING):
        dispatch.ring()
        dispatch.sweep()
        dispatch.reconcile()
    assert caplog.text.count("put off to the next round") == 3
    assert doorbell.rung == []


def test_work_of_a_kind_unknown_here_is_left_to_a_person(shop: Shop, ring: RingDueWork) -> None:
    """A newer program's row, or an older one's, must not stop every sweep after it."""
    older = SweepLeases(shop.transactions, {}, shop.retry_policy)
    shop.tell(confirmed())
    killed_during_the_call(shop, shop.ship)
    shop.clock.advance(shop.timing.lease_seconds + 1)
    Dispatch(ring, older, shop.reconcile).sweep()
    assert shop.request().state is State.NEEDS_CONFIRMATION
