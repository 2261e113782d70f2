"""Parcels: what is asked of the carrier for an order, frozen when the order is confirmed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from domain.canonical import canonical_json
from domain.keys import shipment_cancel_key, shipment_request_key
from domain.operations import NewOperation, Operation, State

REQUEST: Final = "shipment-request"
CANCEL: Final = "shipment-cancel"

SHIPMENT_STATES: Final = ("owed", "requested", "booked", "cancelled", "refused", "parked", "needs_confirmation")


@dataclass(frozen=True, slots=True)
class ShipmentRequest:
    """One parcel of an order. Key: `shipment-request:<order_id>[:<number>]`."""

    order_id: str
    number: int
    ship_to: Mapping[str, str]

    @property
    def key(self) -> str:
        return shipment_request_key(self.order_id, self.number)

    def as_operation(self) -> NewOperation:
        """The parcel as something that must happen once, its body frozen."""
        body = {"client_reference": self.key, "number": self.number, "order_id": self.order_id, "ship_to": self.ship_to}
        return NewOperation(self.key, REQUEST, self.order_id, self.number, canonical_json(body))


def cancellation(order_id: str, number: int) -> NewOperation:
    """Asking the carrier to stop a parcel that was, or may have been, asked for."""
    key = shipment_cancel_key(order_id, number)
    body = {"client_reference": key, "shipment": shipment_request_key(order_id, number)}
    return NewOperation(key, CANCEL, order_id, number, canonical_json(body))


@dataclass(frozen=True, slots=True)
class Shipment:
    """A parcel as people speak of it."""

    order_id: str
    number: int
    key: str
    state: str
    reference: str | None
    reason: str | None

    @classmethod
    def of(cls, request: Operation, cancel: Operation | None) -> Self:
        """State: one of SHIPMENT_STATES; `requested` is sent and not yet answered."""
        state = _state(request, cancel)
        waits = cancel is not None and cancel.state.waits_for_a_person
        reason = cancel.reason if cancel is not None and waits else request.reason
        result: Mapping[str, Any] = request.result
        return cls(request.subject, request.number, request.key, state, result.get("reference"), reason)


def _state(request: Operation, cancel: Operation | None) -> str:
    if cancel is not None and cancel.state is State.COMPLETED:
        return "cancelled"
    if cancel is not None and cancel.state.waits_for_a_person:
        return str(cancel.state)
    if request.state in (State.READY, State.PROCESSING):
        return "requested" if request.was_sent else "owed"
    if request.state is State.REFUSED and not request.was_sent:
        return "cancelled"  # withdrawn; a carrier's own no has been sent for
    return "booked" if request.state is State.COMPLETED else str(request.state)
