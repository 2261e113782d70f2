"""Workers struck at a point of what they do outside: killed there, or frozen."""

import signal
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psutil

from domain.keys import billing_key, refund_key
from entrypoints.supervisor import Process
from tests.crash.worker import POINT, SIGNAL, SUBJECTS
from tests.e2e.installation import PRICE, TOTAL, Installation, soon
from tests.entrypoints.sandbox.world import Parcel

SENT: Final = "sent"  # at the provider and done there, no answer read; the only point that the provider has to show us
MONTH: Final = "2026-09"

# Where the test strikes, all must be at the provider before the first of them gives up waiting.
PATIENT: Final = {"IKKAI_CALL_DEADLINE_SECONDS": "2", "IKKAI_LEASE_SECONDS": "6"}

PARCEL: Final = "shipments"
CHARGE: Final = "charges"
REFUND: Final = "refunds"


@dataclass(frozen=True)
class Errand:
    """One thing to be done once outside, which a message asks for.

    Key: `key` is that of its operation; `subject` an order's or a customer's id; `kind` what the world calls it.
    """

    key: str
    subject: str
    kind: str
    actor: str
    content: Mapping[str, Any]

    def done(self, installation: Installation) -> list[dict[str, Any]]:
        """What the world's ledger says of it."""
        return installation.ledger(self.kind, self)

    def asked(self, installation: Installation) -> list[dict[str, Any]]:
        """How often the provider was asked for it."""
        return installation.asked(self.kind, self)


def parcel(installation: Installation) -> Errand:
    """A parcel to ask for; its order is confirmed."""
    order = Parcel()
    installation.confirm(order, apply=True)
    content = {"order_id": order.order_id}
    return Errand(order.key, order.order_id, PARCEL, "shipping.request_shipment", content)


def charge(installation: Installation) -> Errand:
    """A month to bill and to charge."""
    customer = _customer_id()
    installation.subscribe(MONTH, customer)
    content = {"customer_id": customer, "month": MONTH}
    return Errand(billing_key(customer, MONTH), customer, CHARGE, "billing.bill_customer", content)


def refund(installation: Installation) -> Errand:
    """Money of a bill to give back; the bill is paid."""
    paid = charge(installation)
    installation.container.billing_runner().bill_customer(paid.subject, MONTH)
    refund_id = f"r-{paid.subject}"
    content = {"refund_id": refund_id, "customer_id": paid.subject, "month": MONTH, "amount": TOTAL - PRICE}
    return Errand(refund_key(refund_id), paid.subject, REFUND, "payments.refund", content)


def of_each_kind(installation: Installation) -> dict[str, Errand]:
    """An errand of each kind, by its kind."""
    errands = (parcel(installation), charge(installation), refund(installation))
    return {errand.kind: errand for errand in errands}


def strike(installation: Installation, errands: Sequence[Errand], point: str, by: signal.Signals) -> Process:
    """The worker that came no further with any of these than this point.

    The installation must have no dispatcher yet: nobody else may touch them.
    """
    variables = {POINT: point, SUBJECTS: ",".join(errand.subject for errand in errands), SIGNAL: by.name}
    variables |= PATIENT if point == SENT else {}
    worker = installation.start("tests.crash.worker", "--threads", str(len(errands)), **variables)
    for errand in errands:
        if point == SENT:
            installation.script(errand.kind, "silent_after", match=errand.subject)
        installation.send(errand.actor, dict(errand.content))
    if point == SENT:
        soon(lambda: all(errand.done(installation) for errand in errands))
        worker.signal(by)
    soon(lambda: is_struck(worker))
    return worker


def is_struck(worker: Process) -> bool:
    """Whether it is dead, or stands still."""
    return worker.has_ended() or psutil.Process(worker.pid).status() == psutil.STATUS_STOPPED


def _customer_id() -> str:
    return f"c-{uuid.uuid4().hex[:12]}"
