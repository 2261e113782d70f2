"""Workers that stand still past their lease and come back: their late writes change nothing (B51; traps 12, 13, 38)."""

import signal
from collections.abc import Iterator
from dataclasses import replace

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from entrypoints.supervisor import Process
from tests.crash.strikes import SENT, strike
from tests.crash.worker import ANSWERED, CLAIMED, GATED
from tests.e2e.installation import Installation, running_installation, soon
from tests.entrypoints.sandbox.world import Parcel

POINTS = (CLAIMED, GATED, SENT, ANSWERED)


@pytest.fixture(params=[True, False], ids=["with keys", "without keys"])
def installation(servers: ServerUrls, template: str, request: pytest.FixtureRequest) -> Iterator[Installation]:
    with running_installation(servers, template, honours_keys=request.param) as installation:
        yield installation


def test_a_thawed_worker_neither_sends_nor_overwrites(installation: Installation) -> None:
    """Frozen at any point until another has taken over: thawed, it sends nothing more and its writes are fenced off."""
    frozen = {point: strike(installation, point, signal.SIGSTOP) for point in POINTS}
    orders = {point: order for point, (order, _) in frozen.items()}
    installation.start_dispatcher()
    installation.start_worker()
    lost = [] if installation.settings.carrier_honours_keys else [orders[GATED]]
    installation.wait_for(State.NEEDS_CONFIRMATION, *lost)
    taken_over = [order for order in orders.values() if order not in lost]
    installation.wait_for(State.COMPLETED, *taken_over)
    before = _all_that_happened(installation, list(orders.values()))
    thaw([worker for _, worker in frozen.values()])
    assert _all_that_happened(installation, list(orders.values())) == before
    for order in taken_over:
        assert len(installation.world.ledger(order)) == len(installation.world.seen(order)) == 1
    for order in lost:
        assert installation.world.ledger(order) == installation.world.seen(order) == []


def thaw(workers: list[Process]) -> None:
    """Lets them go on and finish what they hold."""
    for worker in workers:
        worker.signal(signal.SIGCONT)
        worker.signal(signal.SIGTERM)
    soon(lambda: all(worker.has_ended() for worker in workers))
    assert [worker.child and worker.child.returncode for worker in workers] == [0] * len(workers)


def _all_that_happened(installation: Installation, orders: list[Parcel]) -> list[object]:
    """All but when an unknown outcome is looked up next: that goes on by itself."""
    operations = [replace(installation.operation(order), next_at=None) for order in orders]
    return [*operations, *map(installation.story, orders), *map(installation.world.seen, orders)]
