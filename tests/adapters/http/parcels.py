"""Parcels and cancellations as the books hand them to the gateway, and what an honest carrier says of them."""

from dataclasses import replace
from typing import Any

from domain.operations import NewOperation, Operation, State
from domain.shipping import ShipmentRequest, cancellation

SHIP_TO = {"name": "山田 太郎", "country": "JP", "postal_code": "100-0001", "city": "千代田区", "line1": "千代田1-1"}


def parcel(order_id: str = "o-1", number: int = 1, *, command_id: str | None = None) -> Operation:
    """A parcel to be asked for, or one that the carrier accepted under `command_id`."""
    asked = _claimed(ShipmentRequest(order_id, number, SHIP_TO).as_operation())
    return asked if command_id is None else replace(asked, result={"command_id": command_id})


def cancel(order_id: str = "o-1", number: int = 1) -> Operation:
    """A parcel to be stopped."""
    return _claimed(cancellation(order_id, number))


def booked(order_id: str = "o-1", /, **other: Any) -> dict[str, Any]:
    """The carrier's honest answer for a booked parcel, or one with `other` content."""
    return {
        "reference": "P-00000001",
        "client_reference": parcel(order_id).key,
        "order_id": order_id,
        "status": "booked",
    } | other


def _claimed(new: NewOperation) -> Operation:
    return Operation(new.key, new.kind, new.subject, new.number, new.request, State.PROCESSING, epoch=1, attempts=1)
