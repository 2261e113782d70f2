"""Messages taken while the database is away: a producer's are its own until stored (traps 35, 44; design, law 1)."""

from collections.abc import Iterator

import pytest

from domain.operations import State
from tests.e2e.installation import Installation, installation_on, soon
from tests.e2e.outages import FragileServers, fragile_servers
from tests.entrypoints.sandbox.world import Parcel


@pytest.fixture(scope="module")
def servers_to_lose() -> Iterator[FragileServers]:
    with fragile_servers() as servers:
        yield servers


@pytest.fixture
def installation(servers_to_lose: FragileServers) -> Iterator[Installation]:
    with installation_on(servers_to_lose.urls) as installation:
        yield installation


def test_a_message_waits_on_its_queue_until_the_database_is_back(
    installation: Installation, servers_to_lose: FragileServers
) -> None:
    """Taken, put back, taken again: the event is applied, the points granted, and nothing became a dead letter."""
    worker = installation.start("tests.adapters.dramatiq.impatient_worker", "--threads", "2")
    order, by_hand = Parcel(), Parcel()
    servers_to_lose.take_database_away()
    try:
        installation.send_event(order)
        installation.send_grant(by_hand)
        with installation.redis() as client:
            for queue in ("dramatiq:orders", "dramatiq:points"):
                soon(lambda queue=queue: client.llen(queue) == 0)  # type: ignore[misc]
                soon(lambda queue=queue: client.llen(queue) == 1)  # type: ignore[misc]
            assert client.keys("dramatiq:*.XQ") == []
    finally:
        servers_to_lose.bring_database_back()
    installation.start_dispatcher()
    installation.wait_for(State.COMPLETED, order)
    granted = "SELECT count(*) FROM point_entries WHERE order_id = ANY(:orders)"
    soon(lambda: installation.rows(granted, orders=[order.order_id, by_hand.order_id]) == [(2,)])
    assert installation.dead_letters() == []
    assert not worker.has_ended()
