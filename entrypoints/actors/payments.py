"""Queue `payments`."""

from typing import Any

import dramatiq

from application.operations import PerformOperations
from application.payments import RequestRefund
from entrypoints.actors.declare import declare
from entrypoints.actors.drains import Drain


def register(
    broker: dramatiq.Broker, request: RequestRefund, perform: PerformOperations, charges: Drain, refunds: Drain
) -> None:
    """Declares the actors of this context on `broker`."""

    def refund(*, refund_id: Any, customer_id: Any, month: Any, amount: Any = None) -> None:
        """Gives money of a bill back; a repeat is a no-op."""
        perform.execute(1, key=request.execute(refund_id, customer_id, month, amount).key)

    def charge_due_bills(*, slot: int = 0) -> None:
        """A doorbell: charges the bills that are due."""
        charges.run(slot)

    def send_due_refunds(*, slot: int = 0) -> None:
        """A doorbell: asks the provider for the refunds that are due."""
        refunds.run(slot)

    declare(broker, "payments", refund)
    declare(broker, "payments", charge_due_bills, doorbell=True)
    declare(broker, "payments", send_due_refunds, doorbell=True)
