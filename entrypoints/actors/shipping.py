"""Queue `shipping`."""

from typing import Any

import dramatiq

from application.operations import PerformOperations
from application.shipping import RequestShipment
from domain.keys import identifier, shipment_request_key
from entrypoints.actors.declare import declare
from entrypoints.actors.drains import Drain


def register(
    broker: dramatiq.Broker, ask: RequestShipment, perform: PerformOperations, requests: Drain, cancels: Drain
) -> None:
    """Declares the actors of this context on `broker`."""

    def request_shipment(*, order_id: Any, number: Any = 1) -> None:
        """Asks the carrier for one parcel of a confirmed order, unless it was asked for already."""
        ask.execute(order_id, number)
        perform.execute(1, key=shipment_request_key(identifier("order_id", order_id), number))

    def request_due_shipments(*, slot: int = 0) -> None:
        """A doorbell: asks the carrier for the parcels that are due."""
        requests.run(slot)

    def cancel_due_shipments(*, slot: int = 0) -> None:
        """A doorbell: asks the carrier to stop the parcels of cancelled orders."""
        cancels.run(slot)

    declare(broker, "shipping", request_shipment)
    declare(broker, "shipping", request_due_shipments, doorbell=True)
    declare(broker, "shipping", cancel_due_shipments, doorbell=True)
