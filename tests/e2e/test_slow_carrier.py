"""A carrier that answers one byte at a time: each call ends by its deadline, and others are served (report B52)."""

from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.e2e.installation import Installation, running_installation, soon
from tests.entrypoints.sandbox.world import Parcel

SLOW, HEALTHY, THREADS = 16, 40, 8


@pytest.fixture
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template, max_attempts=100) as installation:
        yield installation


def test_healthy_orders_behind_slow_ones_go_on(installation: Installation) -> None:
    """Sixteen orders whose every call drips hold up nobody for long, and end booked once when the carrier is well."""
    slow = [Parcel(f"o-slow-{number}") for number in range(SLOW)]
    healthy = [Parcel(f"o-healthy-{number}") for number in range(HEALTHY)]
    for match in ("o-slow-", "GET o-slow-"):
        installation.world.script("slow", match=match, times=None)
    worker = installation.start_worker(threads=THREADS)
    installation.start_dispatcher()
    installation.confirm(*slow)
    installation.confirm(*healthy)
    installation.wait_for(State.COMPLETED, *healthy)
    for order in slow:
        soon(lambda order=order: "ready no whole answer within 1 s" in installation.story(order))  # type: ignore[misc]
        assert installation.operation(order).state in (State.READY, State.PROCESSING)

    installation.world.http.delete("/_faults").raise_for_status()
    installation.wait_for(State.COMPLETED, *slow)
    installation.assert_done_once([*slow, *healthy])
    assert not worker.has_ended()
