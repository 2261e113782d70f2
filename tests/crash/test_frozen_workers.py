"""Workers that stand still past their lease and come back: they change nothing (B25, B51; traps 12, 13, 38)."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from entrypoints.supervisor import Process
from tests.crash.strikes import SENT, Errand, of_each_kind, strike
from tests.crash.worker import ANSWERED, CLAIMED, GATED, HANDED_OVER
from tests.e2e.installation import Installation, running_installation, soon

POINTS = (SENT, CLAIMED, GATED, HANDED_OVER, ANSWERED)


@pytest.fixture(params=[True, False], ids=["with keys", "without keys"])
def installation(servers: ServerUrls, template: str, request: pytest.FixtureRequest) -> Iterator[Installation]:
    with running_installation(servers, template, honours_keys=request.param) as installation:
        yield installation


def test_a_thawed_worker_neither_sends_nor_overwrites(installation: Installation) -> None:
    """Frozen at any point until another has taken over: thawed, it sends nothing more and its writes are fenced off."""
    errands = {point: list(of_each_kind(installation).values()) for point in POINTS}
    frozen = [strike(installation, of_kinds, point, signal.SIGSTOP) for point, of_kinds in errands.items()]
    installation.start_dispatcher()
    installation.start_worker(threads=4)
    lost_at = () if installation.settings.carrier_honours_keys else (GATED, HANDED_OVER)
    lost = [errand for point in lost_at for errand in errands[point]]
    everything = [errand for of_kinds in errands.values() for errand in of_kinds]
    taken_over = [errand for errand in everything if errand not in lost]
    installation.wait_for(State.NEEDS_CONFIRMATION, *lost)
    installation.wait_for(State.COMPLETED, *taken_over)
    before = _all_that_happened(installation, everything)
    thaw(frozen)
    assert _all_that_happened(installation, everything) == before
    for errand in taken_over:
        assert len(errand.done(installation)) == len(errand.asked(installation)) == 1
    for errand in lost:
        assert errand.done(installation) == errand.asked(installation) == []


def thaw(workers: Sequence[Process]) -> None:
    """Lets them go on and finish what they hold."""
    for worker in workers:
        worker.signal(signal.SIGCONT)
        worker.signal(signal.SIGTERM)
    soon(lambda: all(worker.has_ended() for worker in workers))
    assert [worker.child and worker.child.returncode for worker in workers] == [0] * len(workers)


def _all_that_happened(installation: Installation, errands: Sequence[Errand]) -> list[object]:
    """All but when an unknown outcome is looked up next: that goes on by itself."""
    operations = [replace(installation.operation(errand), next_at=None) for errand in errands]
    seen = [errand.asked(installation) for errand in errands]
    return [*operations, *map(installation.story, errands), *seen]
