"""Queue `payments`."""

from typing import Any

import dramatiq

from application.payments import SendRefund
from entrypoints.actors.declare import declare
from entrypoints.actors.drains import Drain


def register(broker: dramatiq.Broker, send: SendRefund, charges: Drain, refunds: Drain) -> None:
    """Declares the actors of this context on `broker`."""

    def refund(*, refund_id: Any, customer_id: Any, month: Any, amount: Any = None) -> None:
        """Gives money of a bill back; a repeat is a no-op."""
        send.at_once(refund_id, customer_id, month, amount)

    def charge_due_bills(*, slot: int = 0) -> None:
        """A doorbell: charges the bills that are due."""
        charges.run(slot)

    def send_due_refunds(*, slot: int = 0) -> None:
        """A doorbell: asks the provider for the refunds that are due."""
        refunds.run(slot)

    declare(broker, "payments", refund)
    declare(broker, "payments", charge_due_bills, doorbell=True)
    declare(broker, "payments", send_due_refunds, doorbell=True)
