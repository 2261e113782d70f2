"""Queue `billing`."""

from typing import Any

import dramatiq

from application.billing import BillingRunner
from entrypoints.actors.declare import declare


def register(broker: dramatiq.Broker, runner: BillingRunner) -> None:
    """Declares the actors of this context on `broker`."""

    def bill_customer(*, customer_id: Any, month: Any) -> None:
        """Bills one customer's month and charges it; a repeat is a no-op."""
        runner.bill_customer(customer_id, month)

    declare(broker, "billing", bill_customer)
