"""Redis emptied, gone, too small, full, robbed of its locks: every effect once, nobody has to help (B54; trap 49)."""

import time

import pytest
import redis

from domain.operations import State
from tests.e2e.installation import Installation, soon
from tests.e2e.outages import FragileServers
from tests.entrypoints.sandbox.world import Parcel

ORDERS_PER_OUTAGE = 60
OUTAGE_SECONDS = 3.0
# Redis needs more than this for itself: each write evicts something, or is refused.
TOO_SMALL = "1mb"


def test_three_hundred_orders_through_every_outage_of_redis(
    busy_installation: Installation, servers_to_lose: FragileServers
) -> None:
    """One outage after the other, each while parcels are under way: each order has one grant and one parcel."""
    installation = busy_installation
    orders = [Parcel() for _ in range(5 * ORDERS_PER_OUTAGE)]

    def under_way(outage: int) -> None:
        """Orders come in, and some of them are done."""
        begin = outage * ORDERS_PER_OUTAGE
        installation.confirm(*orders[begin : begin + ORDERS_PER_OUTAGE])
        soon(lambda: installation.booked() >= begin + ORDERS_PER_OUTAGE // 10)

    with installation.redis() as client:
        under_way(0)
        client.flushall()

        under_way(1)
        servers_to_lose.bring_queue_back(empty=True)

        under_way(2)
        client.config_set("maxmemory-policy", "allkeys-lru")
        client.config_set("maxmemory", TOO_SMALL)
        time.sleep(OUTAGE_SECONDS)
        client.config_set("maxmemory-policy", "noeviction")

        # Full now. What we take in is ours, and a producer is told that its message was not taken.
        installation.confirm(*orders[3 * ORDERS_PER_OUTAGE : 4 * ORDERS_PER_OUTAGE])
        with pytest.raises(redis.OutOfMemoryError):
            installation.send_event(Parcel())
        time.sleep(OUTAGE_SECONDS)
        client.config_set("maxmemory", 0)

        under_way(4)
        end = time.monotonic() + OUTAGE_SECONDS
        while time.monotonic() < end:
            for ring in client.scan_iter("ikkai:ring:*"):
                client.delete(ring)

    installation.wait_for(State.COMPLETED, *orders)
    installation.assert_done_once(orders)
    assert installation.rows("SELECT DISTINCT state FROM order_events") == [("applied",)]
    assert installation.dead_letters() == []
    assert not any(process.has_ended() for process in installation.processes)
