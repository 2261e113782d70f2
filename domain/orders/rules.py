"""How an order obeys its events: whatever order they arrive in, it ends as its highest revision says.

Where a shop gives one revision to several events, their times decide, as far as nothing was granted yet: D-009.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from enum import StrEnum
from fractions import Fraction
from typing import Final, NamedTuple, Protocol

from domain.calendar import last_valid_date
from domain.keys import grant_reason
from domain.money import Money
from domain.orders.events import EventState, EventType, OrderEvent, Verdict
from domain.points import PointGrant, PointReversal, earned_points
from domain.shipping import ShipmentRequest

APPLIED: Final = Verdict(EventState.APPLIED)
STALE: Final = Verdict(EventState.IGNORED, "stale")
ALREADY_APPLIED: Final = Verdict(EventState.IGNORED, "already applied")


class OrderStatus(StrEnum):
    ANNOUNCED = "announced"  # known by a grant made by hand; no event yet
    CONFIRMED = "confirmed"
    CANCELLED = "cancelled"


class Position(NamedTuple):
    """Where an event stands among those of its order: by revision, then time, then id."""

    revision: int
    time: datetime
    event_id: str


@dataclass(frozen=True, slots=True)
class Order:
    """An order as its events left it. `confirmations` and `shipments` count what was ever granted and asked for."""

    order_id: str
    status: OrderStatus = OrderStatus.ANNOUNCED
    position: Position | None = None
    customer_id: str | None = None
    content: bytes | None = None
    total: Money | None = None
    points: int = 0
    ship_to: Mapping[str, str] | None = None
    grant_reason: str | None = None
    confirmations: int = 0
    shipments: int = 0

    @property
    def next_shipment(self) -> ShipmentRequest | None:
        """The parcel that would be asked for next; none where there is nothing to ship."""
        return None if self.ship_to is None else ShipmentRequest(self.order_id, self.shipments + 1, self.ship_to)


@dataclass(frozen=True, slots=True)
class PointRules:
    """The shop's settings for points. Units: percent of whole currency units, months."""

    zone: tzinfo
    earn_rate_percent: Fraction = Fraction(1)
    valid_months: int = 12


@dataclass(frozen=True, slots=True)
class Decision:
    """What one event changes: the order, and what follows from it."""

    order: Order
    verdict: Verdict
    grant: PointGrant | None = None
    reversal: PointReversal | None = None
    shipment: ShipmentRequest | None = None
    cancelled_shipments: Sequence[int] = field(default=())


class OrderBook(Protocol):
    """The table of orders."""

    def lock(self, order_ids: Sequence[str]) -> Mapping[str, Order]:
        """Those that exist, locked in the order of their ids."""
        ...

    def add(self, orders: Sequence[Order]) -> None:
        """Stores orders that `lock` did not find.

        Raises: LostRace when another transaction stored one of them meanwhile: the whole unit starts again.
        """
        ...

    def save(self, orders: Sequence[Order]) -> None:
        """Stores the new state of locked orders."""
        ...

    def get(self, order_id: str) -> Order | None: ...


def obey(order: Order, event: OrderEvent, rules: PointRules) -> Decision:
    """What `event` makes of `order`. An unknown order is `Order(order_id)`."""
    match event.type:
        case EventType.ORDER_CONFIRMED:
            return _confirm(order, event, rules)
        case EventType.ORDER_CANCELLED:
            return _cancel(order, event)
        case EventType.ORDER_REFUNDED:
            # Its rule (points back in proportion) joins here; until then the fact is kept, unapplied.
            return Decision(order, Verdict(EventState.WAITING, "points are not yet taken back for refunds"))
        case other:
            raise ValueError(f"{other} is not an order event")


def _confirm(order: Order, event: OrderEvent, rules: PointRules) -> Decision:
    position = _position(event)
    if order.status is OrderStatus.CONFIRMED and order.position is not None:
        if order.content == event.content:
            return Decision(replace(order, position=max(position, order.position)), ALREADY_APPLIED)
        if position.revision < order.position.revision:
            return Decision(order, STALE)
        return Decision(order, Verdict(EventState.CONFLICT, _difference(order, event)))
    if order.status is OrderStatus.CANCELLED and order.position is not None and not _revives(order, position):
        return Decision(order, STALE)
    return _activate(order, event, rules)


def _revives(order: Order, position: Position) -> bool:
    """An order that was confirmed before needs a higher revision: a late repeat must not bring it back to life."""
    assert order.position is not None
    if order.confirmations:
        return position.revision > order.position.revision
    return position > order.position


def _activate(order: Order, event: OrderEvent, rules: PointRules) -> Decision:
    data = event.data
    total = Money(data["total"], data["currency"])
    points = data["points"] if data["points"] is not None else earned_points(total, rules.earn_rate_percent)
    # Points granted by hand are those of the first confirmation; once a cancel took them back, new ones are due.
    granted_before = order.status is OrderStatus.CANCELLED and order.grant_reason is not None
    reason = grant_reason(event.revision if granted_before else None)
    confirmed = replace(
        order,
        status=OrderStatus.CONFIRMED,
        position=_position(event),
        customer_id=data["customer_id"],
        content=event.content,
        total=total,
        points=points,
        ship_to=data["ship_to"],
        grant_reason=reason,
        confirmations=order.confirmations + 1,
    )
    shipment = confirmed.next_shipment
    expires_on = last_valid_date(event.time, rules.valid_months, rules.zone)
    return Decision(
        confirmed if shipment is None else replace(confirmed, shipments=shipment.number),
        APPLIED,
        grant=PointGrant(order.order_id, reason, data["customer_id"], points, expires_on) if points else None,
        shipment=shipment,
    )


def _cancel(order: Order, event: OrderEvent) -> Decision:
    position = _position(event)
    if order.position is not None and position < order.position:
        return Decision(order, STALE)
    cancelled = replace(order, status=OrderStatus.CANCELLED, position=position)
    if order.status is OrderStatus.CANCELLED:
        return Decision(cancelled, ALREADY_APPLIED)
    # Also where no confirmation is known: the points may have been granted by hand.
    reversal = PointReversal(order.order_id, order.grant_reason or grant_reason(), f"cancelled#{event.revision}")
    return Decision(cancelled, APPLIED, reversal=reversal, cancelled_shipments=range(1, order.shipments + 1))


def _position(event: OrderEvent) -> Position:
    return Position(event.revision, event.time, event.id)


def _difference(order: Order, event: OrderEvent) -> str:
    """Which fields of a second confirmation differ from the first, for the person who has to decide."""
    assert order.total is not None
    first = {
        "customer_id": order.customer_id,
        "currency": order.total.currency,
        "total": order.total.amount,
        "ship_to": None if order.ship_to is None else dict(order.ship_to),
        "points": event.data["points"] if event.data["points"] is None else order.points,
    }
    differing = [name for name, value in first.items() if event.data[name] != value] or ["points"]
    return f"already confirmed with other {', '.join(differing)}"
