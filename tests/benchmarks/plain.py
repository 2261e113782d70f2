"""The plain way: one transaction per event, each row by its own statement, the same rows and guarantees in the end."""

import hashlib
import json
from typing import Any, Final

from sqlalchemy import Engine, text

_INBOX: Final = text(
    "INSERT INTO order_events (source, event_id, type, time, subject, revision, data, fingerprint, state)"
    " VALUES (:source, :id, :type, CAST(:time AS timestamptz), :order_id, 1, :data, :fingerprint, 'applied')"
    " ON CONFLICT DO NOTHING RETURNING seq"
)
_ORDER: Final = text(
    "INSERT INTO orders (order_id, status, revision, event_time, event_id, customer_id, content, currency, total,"
    " points, ship_to, grant_reason, confirmations, shipments)"
    " VALUES (:order_id, 'confirmed', 1, CAST(:time AS timestamptz), :id, :customer_id, :fingerprint, :currency,"
    " :total, :points, :ship_to, 'order_confirmed', 1, 1)"
)
_CUSTOMER: Final = text("INSERT INTO customers (customer_id) VALUES (:customer_id) ON CONFLICT DO NOTHING")
_LOT: Final = text(
    "INSERT INTO point_lots (order_id, reason, customer_id, points, remaining, expires_on)"
    " VALUES (:order_id, 'order_confirmed', :customer_id, :points, :points, '2027-10-31')"
    " ON CONFLICT DO NOTHING RETURNING order_id"
)
_ENTRY: Final = text(
    "INSERT INTO point_entries (customer_id, kind, points, order_id, reason)"
    " VALUES (:customer_id, 'grant', :points, :order_id, 'order_confirmed')"
)
_BALANCE: Final = text(
    "INSERT INTO point_balances (customer_id, balance) VALUES (:customer_id, :points)"
    " ON CONFLICT (customer_id) DO UPDATE SET balance = point_balances.balance + excluded.balance"
)
_OPERATION: Final = text(
    "INSERT INTO operations (key, kind, subject, request, fingerprint)"
    " VALUES (:key, 'shipment-request', :order_id, :ship_to, :fingerprint) ON CONFLICT DO NOTHING"
)


class PlainShop:
    """What one would write first, done well: durable, once by unique constraints, no checks of the input."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def work(self, events: list[dict[str, Any]]) -> None:
        """Stores and applies each event in a transaction of its own."""
        for event in events:
            values = _values(event)
            with self._engine.begin() as connection:
                if connection.execute(_INBOX, values).one_or_none() is None:
                    continue
                connection.execute(_ORDER, values)
                connection.execute(_CUSTOMER, values)
                if connection.execute(_LOT, values).one_or_none() is not None:
                    connection.execute(_ENTRY, values)
                    connection.execute(_BALANCE, values)
                connection.execute(_OPERATION, values)


def _values(event: dict[str, Any]) -> dict[str, Any]:
    data = event["data"]
    body = json.dumps(data)
    return {
        **data,
        "source": event["source"],
        "id": event["id"],
        "type": event["type"],
        "time": event["time"],
        "data": body,
        "fingerprint": hashlib.sha256(body.encode()).digest(),
        "ship_to": json.dumps(data["ship_to"]),
        "key": f"shipment-request:{data['order_id']}",
    }
