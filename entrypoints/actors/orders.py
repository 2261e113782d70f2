"""Queue `orders`."""

from typing import Any

import dramatiq

from application.orders import AcceptOrderEvents
from domain.errors import Malformed
from entrypoints.actors.declare import declare
from entrypoints.actors.drains import Drain


def register(broker: dramatiq.Broker, accept: AcceptOrderEvents, drain: Drain) -> None:
    """Declares the actors of this context on `broker`."""

    def process_event(*, event: Any) -> None:
        """Stores one order event; it is applied from the inbox. What cannot be stored becomes a dead letter."""
        receipt = accept.execute([event])
        for rejection in receipt.rejected:
            raise Malformed(rejection.field, rejection.reason)

    def apply_due_events(*, slot: int = 0) -> None:
        """A doorbell: applies what the inbox holds."""
        drain.run(slot)

    declare(broker, "orders", process_event)
    declare(broker, "orders", apply_due_events, doorbell=True)
