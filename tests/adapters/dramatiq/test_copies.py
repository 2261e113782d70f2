"""One message handed to many threads, or delivered many times: each effect once, quietly (report B51; traps 37, 50)."""

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from entrypoints.supervisor import Process
from tests.e2e.installation import POINTS, Installation, running_installation, soon
from tests.e2e.months import BilledMonth, RefundOf
from tests.entrypoints.sandbox.world import Parcel

QUEUES = ("orders", "points", "shipping", "billing", "payments")
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
    return installation.start_worker(threads=THREADS)


@pytest.mark.parametrize("delay_milliseconds", [None, DELAY_MILLISECONDS], ids=["at once", "delayed"])
def test_ten_identical_messages_are_one_effect(
    installation: Installation, worker: Process, delay_milliseconds: int | None
) -> None:
    """An event, a grant and a parcel, each ten times in the hands of eight threads: once each, no dead letter."""
    how: dict[str, Any] = {"copies": COPIES, "delay_milliseconds": delay_milliseconds}
    order, by_hand = Parcel(), Parcel()
    worker.signal(signal.SIGSTOP)  # so that all copies are there when its threads come
    installation.send_event(order, **how)
    installation.send_grant(by_hand, **how)
    worker.signal(signal.SIGCONT)
    installation.wait_for(State.COMPLETED, order)

    worker.signal(signal.SIGSTOP)
    installation.send_grant(order, **how)
    installation.send("shipping.request_shipment", {"order_id": order.order_id, "number": 2}, **how)
    worker.signal(signal.SIGCONT)
    soon(lambda: _is_heard(installation))

    for granted in (order, by_hand):
        entries = "SELECT kind, points FROM point_entries WHERE order_id = :order"
        assert installation.rows(entries, order=granted.order_id) == [("grant", POINTS)]
    parcels = installation.world.ledger(order)
    assert sorted(row["key"] for row in parcels) == [order.key, f"{order.key}:2"]
    assert installation.dead_letters() == []
    assert not worker.has_ended()


def test_copies_of_a_bill_and_of_its_refund_are_one_of_each(installation: Installation, worker: Process) -> None:
    """The month and then the refund, each ten times in the hands of eight threads: charged once, given back once."""
    month = BilledMonth(installation)
    (bill,) = month.subscribers(1)
    refund, of_bill = RefundOf(bill), {"customer_id": bill.customer_id, "month": bill.month}
    for actor, content, done in (
        ("billing.bill_customer", of_bill, bill),
        ("payments.refund", of_bill | {"refund_id": refund.refund_id, "amount": 500}, refund),
    ):
        worker.signal(signal.SIGSTOP)
        installation.send(actor, content, copies=COPIES)
        worker.signal(signal.SIGCONT)
        installation.wait_for(State.COMPLETED, done)
        soon(lambda: _is_heard(installation))
    month.assert_charged_once([bill])
    assert [row["amount"] for row in installation.ledger("refunds", refund)] == [500]
    assert len(installation.asked("charges", bill)) == len(installation.asked("refunds", refund)) == 1
    assert installation.rows("SELECT number FROM bills") == [(1,)]
    assert installation.dead_letters() == []
    assert not worker.has_ended()


def _is_heard(installation: Installation) -> bool:
    """Whether every message is off its queue, and nothing is being done any more."""
    broker = installation.container.broker()
    waiting = sum(broker.do_qsize(queue) for queue in QUEUES)
    return not waiting and not installation.container.owed_work().execute()
