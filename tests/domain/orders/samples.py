"""Events as tests write them."""

from datetime import UTC, datetime
from typing import Any, Final

NOW: Final = datetime(2026, 10, 4, tzinfo=UTC)
SHIP_TO: Final = {"name": "山田 太郎", "country": "JP", "postal_code": "100-0001", "line2": None}


def envelope(
    type_: str = "order.confirmed", id_: str = "e-1", time: str = "2026-10-03T12:34:56+09:00", **data: Any
) -> dict[str, Any]:
    """A CloudEvents envelope; a confirmation is complete unless `data` says otherwise."""
    content: dict[str, Any] = {"order_id": "o-1"}
    if type_ == "order.confirmed":
        content |= {"customer_id": "c-1", "currency": "JPY", "total": 12000, "points": 120, "ship_to": SHIP_TO}
    return {"specversion": "1.0", "source": "shop", "id": id_, "type": type_, "time": time, "data": content | data}
