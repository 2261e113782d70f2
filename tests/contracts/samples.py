"""The facts that contract tests are told about; each argument names what a test is about."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Final

from domain.operations import NewOperation
from domain.orders.events import EventType, OrderEvent
from domain.points import PointGrant, PointReversal
from domain.shipping import ShipmentRequest

CONFIRMED_AT: Final = datetime(2026, 10, 3, 3, 34, 56, tzinfo=UTC)
YEAR_END: Final = date(2027, 12, 31)
ADDRESS: Final = {"name": "山田 太郎", "country": "JP", "city": "千代田区"}


def grant(
    order_id: str,
    points: int = 100,
    *,
    customer_id: str = "c-1",
    reason: str = "order_confirmed",
    until: date = YEAR_END,
) -> PointGrant:
    return PointGrant(order_id, reason, customer_id, points, until)


def reversal(order_id: str, *, cause: str = "cancelled#2") -> PointReversal:
    return PointReversal(order_id, "order_confirmed", cause)


def parcel(order_id: str, number: int = 1, *, name: str = "山田 太郎") -> NewOperation:
    return ShipmentRequest(order_id, number, {**ADDRESS, "name": name}).as_operation()


def customer_told(event_id: str, *, customer_id: str = "c-1") -> OrderEvent:
    data = {"customer_id": customer_id, "name": "山田 太郎"}
    return OrderEvent("shop", event_id, EventType.CUSTOMER_UPDATED, CONFIRMED_AT, customer_id, 1, data)


def confirmed(event_id: str, *, order_id: str = "o-1", total: int = 12000, source: str = "shop") -> OrderEvent:
    data: Mapping[str, Any] = {"order_id": order_id, "customer_id": "c-1", "currency": "JPY", "total": total}
    return OrderEvent(source, event_id, EventType.ORDER_CONFIRMED, CONFIRMED_AT, order_id, 1, data)
