"""Workers struck at a point of a request: killed there, or frozen."""

import signal

import psutil

from entrypoints.supervisor import Process
from tests.crash.worker import POINT, SIGNAL, SUBJECT
from tests.e2e.installation import Installation, soon
from tests.entrypoints.sandbox.world import Parcel

SENT = "sent"  # request at the carrier and done there, no answer read; the only point that the carrier has to show us


def strike(installation: Installation, point: str, by: signal.Signals) -> tuple[Parcel, Process]:
    """One order, asked for by a message, and the worker that came no further with it than this point.

    The installation must have no dispatcher yet: nobody else may touch the order.
    """
    order = Parcel()
    installation.confirm(order, apply=True)
    variables = {POINT: point, SUBJECT: order.order_id, SIGNAL: by.name}
    worker = installation.start("tests.crash.worker", "--threads", "1", **variables)
    if point == SENT:
        installation.world.script("silent_after", match=order.order_id)
    installation.send("shipping.request_shipment", {"order_id": order.order_id})
    if point == SENT:
        soon(lambda: bool(installation.world.seen(order)))
        worker.signal(by)
    soon(lambda: is_struck(worker))
    return order, worker


def is_struck(worker: Process) -> bool:
    """Whether it is dead, or stands still."""
    return worker.has_ended() or psutil.Process(worker.pid).status() == psutil.STATUS_STOPPED
