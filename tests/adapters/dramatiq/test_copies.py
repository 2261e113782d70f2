"""One message handed to many threads, or delivered many times: each effect once, quietly (report B51; traps 37, 50)."""

import signal
from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from entrypoints.supervisor import Process
from tests.e2e.installation import POINTS, Installation, confirmed, customer_of, running_installation
from tests.entrypoints.sandbox.world import Parcel, until

pytestmark = pytest.mark.xdist_group(__name__)

COPIES = 10
THREADS = 8
DELAY_MILLISECONDS = 2_000


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        yield installation


@pytest.fixture(scope="module")
def worker(installation: Installation) -> Process:
    installation.start_dispatcher()
    return installation.start_worker(THREADS)


@pytest.mark.parametrize("delay_milliseconds", [None, DELAY_MILLISECONDS], ids=["at once", "delayed"])
def test_ten_identical_messages_are_one_effect(
    installation: Installation, worker: Process, delay_milliseconds: int | None
) -> None:
    """An event, a grant and a parcel, each ten times in the hands of eight threads: once each, no dead letter."""
    order = Parcel()
    worker.signal(signal.SIGSTOP)  # so that all copies are there when its threads come
    installation.send(
        "orders.process_event", copies=COPIES, delay_milliseconds=delay_milliseconds, event=confirmed(order)
    )
    worker.signal(signal.SIGCONT)
    installation.wait_for(State.COMPLETED, order)

    worker.signal(signal.SIGSTOP)
    grant = {"order_id": order.order_id, "customer_id": customer_of(order), "points": POINTS}
    installation.send("points.grant_order_points", copies=COPIES, delay_milliseconds=delay_milliseconds, **grant)
    by_hand = {"order_id": f"{order.order_id}-by-hand", "customer_id": customer_of(order), "points": POINTS}
    installation.send("points.grant_order_points", copies=COPIES, delay_milliseconds=delay_milliseconds, **by_hand)
    parcel = {"order_id": order.order_id, "number": 2}
    installation.send("shipping.request_shipment", copies=COPIES, delay_milliseconds=delay_milliseconds, **parcel)
    worker.signal(signal.SIGCONT)
    until(lambda: _is_heard(installation), 20)

    entries = "SELECT order_id, points FROM point_entries WHERE customer_id = :customer ORDER BY order_id"
    assert installation.rows(entries, customer=customer_of(order)) == [
        (order.order_id, POINTS),
        (f"{order.order_id}-by-hand", POINTS),
    ]
    parcels = installation.world.ledger(order)
    assert sorted(row["key"] for row in parcels) == [order.key, f"{order.key}:2"]
    assert installation.dead_letters() == []
    assert not worker.has_ended()


def _is_heard(installation: Installation) -> bool:
    """Whether every message is off its queue, and nothing is being done any more."""
    broker = installation.container.broker()
    waiting = sum(broker.do_qsize(queue) for queue in ("orders", "points", "shipping"))
    return not waiting and not installation.container.owed_work().execute()
