"""Order events as the shop sends them; each argument names what a test is about."""

from datetime import timedelta
from typing import Any, Final

from tests.fakes.clock import START

ADDRESS: Final = {"name": "山田 太郎", "country": "JP", "city": "千代田区", "line1": "千代田1-1"}
Envelope = dict[str, Any]


def confirmed(
    order_id: str = "o-1",
    revision: int = 1,
    *,
    id_: str | None = None,
    minute: int = 0,
    customer_id: str = "c-1",
    total: int = 12000,
    points: int | None = 120,
    ship_to: dict[str, str] | None = ADDRESS,
) -> Envelope:
    data = {"customer_id": customer_id, "currency": "JPY", "total": total, "ship_to": ship_to}
    if points is not None:
        data["points"] = points
    return order_event("order.confirmed", order_id, revision, id_=id_, minute=minute, data=data)


def cancelled(order_id: str = "o-1", revision: int = 2, *, id_: str | None = None, minute: int = 0) -> Envelope:
    return order_event("order.cancelled", order_id, revision, id_=id_, minute=minute, data={})


def refunded(
    order_id: str = "o-1", revision: int = 3, *, refund_id: str = "R1", amount: int = 6000, minute: int = 0
) -> Envelope:
    data = {"refund_id": refund_id, "amount": amount, "currency": "JPY"}
    return order_event("order.refunded", order_id, revision, id_=f"refund {refund_id}", minute=minute, data=data)


def order_event(
    type_: str, order_id: str, revision: int, *, id_: str | None, minute: int, data: dict[str, Any]
) -> Envelope:
    """An event of an order that happened `minute` minutes after the fakes' clock began."""
    return envelope(
        type_, id_ or f"{type_} {order_id}#{revision}", minute, {"order_id": order_id, "revision": revision, **data}
    )


def customer_told(customer_id: str = "c-1", *, id_: str, minute: int = 0, **told: Any) -> Envelope:
    return envelope("customer.updated", id_, minute, {"customer_id": customer_id, **told})


def envelope(type_: str, id_: str, minute: int, data: dict[str, Any]) -> Envelope:
    time = (START + timedelta(minutes=minute)).isoformat()
    return {"specversion": "1.0", "source": "shop", "id": id_, "type": type_, "time": time, "data": data}
