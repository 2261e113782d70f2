"""Parcels: asked for once, stopped when their order is cancelled."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from application.operations import OperationBooks
from application.transactions import Transactions
from domain.errors import Conflict, Malformed, Refused
from domain.keys import identifier, parcel_number, shipment_cancel_key
from domain.operations import Answer, LookUp, Operation, OperationBook, Outcome, Policy, Registration
from domain.orders.rules import OrderBook, OrderStatus
from domain.shipping import CANCEL, REQUEST, SHIPMENT_STATES, Shipment, ShipmentRequest


class ShippingGateway(Protocol):
    """The carrier. Each call ends by its deadline with a sorted answer; none raises for what the carrier does.

    Units: `began` in seconds of the monotonic clock, from when the deadline counts: from before the gate.
    """

    @property
    def account(self) -> str:
        """Whom we are there, without the secret: another account knows nothing of what this one was asked."""
        ...

    def request_each(self, parcels: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        """Asks for parcels, each under its key. Result: `reference` (and `command_id` while still running)."""
        ...

    def cancel_each(self, cancellations: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        """Asks to stop parcels, each under its own key; flagged for a person when a parcel has left."""
        ...

    def look_up_each(self, parcels: Sequence[Operation]) -> Sequence[LookUp]:
        """What the carrier knows of parcels asked for before, by our key as reference."""
        ...

    def look_up_cancelled_each(self, cancellations: Sequence[Operation]) -> Sequence[LookUp]:
        """Whether the parcels to be stopped are cancelled at the carrier."""
        ...


class ShippingBooks(Protocol):
    """The books that asking for parcels writes."""

    @property
    def orders(self) -> OrderBook: ...
    @property
    def operations(self) -> OperationBook: ...


class ShipmentRequestPerformer:
    """Performs `shipment-request`: one parcel each at the carrier."""

    kind = REQUEST

    def __init__(self, gateway: ShippingGateway, policy: Policy) -> None:
        self._gateway = gateway
        self.policy = policy
        self.provider = f"{policy}:{gateway.account}"

    def foregone(self, books: OperationBooks, operations: Sequence[Operation]) -> Mapping[str, Answer]:
        """What surely was not sent yet is not sent any more when its order was cancelled."""
        unsent = {shipment_cancel_key(one.subject, one.number): one.key for one in operations if not one.was_sent}
        needless = Answer(Outcome.REFUSED, "the order was cancelled")
        return {unsent[cancel]: needless for cancel in books.operations.get_each(list(unsent))}

    def call_each(self, operations: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        return self._gateway.request_each(operations, began=began)

    def look_up_each(self, operations: Sequence[Operation]) -> Sequence[LookUp]:
        return self._gateway.look_up_each(operations)


class ShipmentCancelPerformer:
    """Performs `shipment-cancel`, once it is known what became of the request."""

    kind = CANCEL

    def __init__(self, gateway: ShippingGateway, policy: Policy) -> None:
        self._gateway = gateway
        self.policy = policy
        self.provider = f"{policy}:{gateway.account}"

    def foregone(self, books: OperationBooks, operations: Sequence[Operation]) -> Mapping[str, Answer]:
        """A parcel must be settled before it can be stopped, and one never taken on need not be."""
        parcels = {one.key: one.content["shipment"] for one in operations}
        known = books.operations.get_each(list(parcels.values()))
        answers = {key: _before_cancelling(known.get(parcel)) for key, parcel in parcels.items()}
        return {key: answer for key, answer in answers.items() if answer is not None}

    def call_each(self, operations: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        return self._gateway.cancel_each(operations, began=began)

    def look_up_each(self, operations: Sequence[Operation]) -> Sequence[LookUp]:
        return self._gateway.look_up_cancelled_each(operations)


def _before_cancelling(request: Operation | None) -> Answer | None:
    if request is None or not request.state.is_final:
        return Answer(Outcome.RUNNING, "the parcel itself is not settled yet")
    if not request.result.get("reference"):
        return Answer(Outcome.DONE, "the parcel was never taken on")
    return None


class RequestShipment:
    """Asks for an order's parcel by hand: the first if it was never asked for, or one more."""

    def __init__(self, transactions: Transactions[ShippingBooks]) -> None:
        self._transactions = transactions

    def execute(self, order_id: object, number: object = 1) -> Registration:
        """Registers parcel `number`; the workers send it. Asking again for the same parcel is a no-op.

        Raises: Refused while the parcel before is unsettled, or where there is nothing to ship.
        """
        known, which = identifier("order_id", order_id), parcel_number(number)
        return self._transactions.run(lambda books: _ask(books, known, which))


def _ask(books: ShippingBooks, order_id: str, number: int) -> Registration:
    order = books.orders.lock([order_id]).get(order_id)
    if order is None:
        raise Refused(f"no order {order_id} is known", field="order_id")
    if number > order.shipments + 1:
        raise Refused(
            f"must be from 1 to {order.shipments + 1}: parcels are asked for one after the other", field="number"
        )
    if number <= order.shipments:
        return Registration.KNOWN
    if order.status is not OrderStatus.CONFIRMED:
        raise Refused(f"order {order_id} is {order.status}, not confirmed")
    if order.ship_to is None:
        raise Refused(f"order {order_id} has no address to ship to")
    before = {operation.number: operation for operation in books.operations.of_subject(REQUEST, order_id)}.get(
        number - 1
    )
    if before is not None and not before.state.is_final:
        raise Refused(f"parcel {number - 1} of order {order_id} is not settled yet ({before.state})", field="number")
    books.orders.save([replace(order, shipments=number)])
    parcel = ShipmentRequest(order_id, number, order.ship_to)
    registration = books.operations.register_each([parcel.as_operation()])[0]
    if registration is Registration.CONFLICT:
        raise Conflict(f"{parcel.key} is known with other content")
    return registration


class ReadShipments:
    """Parcels to look at."""

    def __init__(self, transactions: Transactions[ShippingBooks]) -> None:
        self._transactions = transactions

    def execute(self, *, state: str | None = None, order_id: str | None = None) -> list[Shipment]:
        """The newest first. Raises: Malformed for a state that does not exist."""
        if state is not None and state not in SHIPMENT_STATES:
            raise Malformed("state", f"must be one of {', '.join(SHIPMENT_STATES)}")

        def read(books: ShippingBooks) -> list[Shipment]:
            requests = books.operations.find(kinds=[REQUEST], subject=order_id)
            cancels = books.operations.find(kinds=[CANCEL], subject=order_id)
            by_parcel = {(cancel.subject, cancel.number): cancel for cancel in cancels}
            return [Shipment.of(request, by_parcel.get((request.subject, request.number))) for request in requests]

        shipments = self._transactions.run(read)
        return [shipment for shipment in shipments if state in (None, shipment.state)]
