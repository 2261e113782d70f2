"""Postgres crashing in the middle of everything: the processes heal by themselves (traps 6, 9, 57)."""

from collections.abc import Iterator

import pytest

from domain.operations import State
from tests.e2e.installation import Installation, installation_on, soon
from tests.e2e.outages import FragileServers, fragile_servers
from tests.entrypoints.sandbox.world import Parcel

ORDERS = 150
LATENCY_MS = 300  # slow enough for a crash to come in the middle


@pytest.fixture
def servers_to_lose() -> Iterator[FragileServers]:
    with fragile_servers() as servers:
        yield servers


@pytest.fixture
def installation(servers_to_lose: FragileServers) -> Iterator[Installation]:
    with installation_on(servers_to_lose.urls, latency_ms=LATENCY_MS) as installation:
        yield installation


def test_two_crashes_of_the_database_in_the_middle(installation: Installation, servers_to_lose: FragileServers) -> None:
    """Cut off while claiming, sending and settling: the same processes go on, and every order ends once."""
    processes = [
        installation.start_dispatcher(),
        installation.start_worker(threads=4),
        installation.start_worker(threads=4),
    ]
    orders = [Parcel() for _ in range(ORDERS)]
    installation.confirm(*orders[: ORDERS // 2])
    soon(lambda: installation.booked() >= 5)
    assert installation.booked() < ORDERS // 2
    servers_to_lose.bring_database_back()
    installation.confirm(*orders[ORDERS // 2 :])
    soon(lambda: installation.booked() >= ORDERS // 2 + 5)
    servers_to_lose.bring_database_back()
    installation.container.engine().dispose()  # the test's own connections were cut as well
    installation.wait_for(State.COMPLETED, *orders)
    installation.assert_done_once(orders)
    assert installation.dead_letters() == []
    assert not any(process.has_ended() for process in processes)
