"""The table of orders."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, text

from adapters.postgres.clock import CLOCK
from domain.canonical import canonical_json
from domain.errors import LostRace
from domain.money import Money
from domain.orders.rules import Order, OrderStatus, Position

_COLUMNS: Final = (
    "order_id, status, revision, event_time, event_id, customer_id, content, currency, total, points, ship_to,"
    " grant_reason, confirmations, shipments"
)
_NEW: Final = f"""
    unnest(CAST(:order_ids AS text[]), CAST(:statuses AS text[]), CAST(:revisions AS bigint[]),
           CAST(:times AS timestamptz[]), CAST(:event_ids AS text[]), CAST(:customers AS text[]),
           CAST(:contents AS bytea[]), CAST(:currencies AS text[]), CAST(:totals AS bigint[]),
           CAST(:points AS bigint[]), CAST(:addresses AS text[]), CAST(:reasons AS text[]),
           CAST(:confirmations AS int[]), CAST(:shipments AS int[]))
    AS new ({_COLUMNS})
"""
_GET: Final = text(f"SELECT {_COLUMNS} FROM orders WHERE order_id = :order_id")
_LOCK: Final = text(
    f"SELECT {_COLUMNS} FROM orders WHERE order_id = ANY(CAST(:order_ids AS text[])) ORDER BY order_id FOR UPDATE"
)
_ADD: Final = text(
    f"""
    WITH {CLOCK}
    INSERT INTO orders ({_COLUMNS}, updated_at)
    SELECT new.*, clock.now FROM {_NEW}, clock ORDER BY order_id
    ON CONFLICT (order_id) DO NOTHING
    RETURNING order_id
    """
)
_SAVE: Final = text(
    f"""
    UPDATE orders
    SET ({_COLUMNS}, updated_at) = ROW (new.*, ikkai_now())
    FROM {_NEW}
    WHERE orders.order_id = new.order_id
    """.replace("new.*", ", ".join(f"new.{column.strip()}" for column in _COLUMNS.split(",")))
)


class PostgresOrderBook:
    """`OrderBook` on the table orders."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lock(self, order_ids: Sequence[str]) -> Mapping[str, Order]:
        rows = self._connection.execute(_LOCK, {"order_ids": list(order_ids)})
        return {row.order_id: _order(row) for row in rows}

    def add(self, orders: Sequence[Order]) -> None:
        if not orders:
            return
        # A row that does not exist cannot be locked: the insert decides who was first (and waits for the other to end).
        if len(self._connection.execute(_ADD, _columns(orders)).all()) < len(orders):
            raise LostRace("an order of this set was stored meanwhile")

    def save(self, orders: Sequence[Order]) -> None:
        if orders:
            self._connection.execute(_SAVE, _columns(orders))

    def get(self, order_id: str) -> Order | None:
        row = self._connection.execute(_GET, {"order_id": order_id}).one_or_none()
        return None if row is None else _order(row)


def _columns(orders: Sequence[Order]) -> dict[str, list[object]]:
    positions = [order.position or (None, None, None) for order in orders]
    return {
        "order_ids": [order.order_id for order in orders],
        "statuses": [str(order.status) for order in orders],
        "revisions": [revision for revision, _, _ in positions],
        "times": [time for _, time, _ in positions],
        "event_ids": [event_id for _, _, event_id in positions],
        "customers": [order.customer_id for order in orders],
        "contents": [order.content for order in orders],
        "currencies": [order.total and order.total.currency for order in orders],
        "totals": [order.total and order.total.amount for order in orders],
        "points": [order.points for order in orders],
        "addresses": [None if order.ship_to is None else canonical_json(order.ship_to) for order in orders],
        "reasons": [order.grant_reason for order in orders],
        "confirmations": [order.confirmations for order in orders],
        "shipments": [order.shipments for order in orders],
    }


def _order(row: Row[Any]) -> Order:
    return Order(
        order_id=row.order_id,
        status=OrderStatus(row.status),
        position=None if row.revision is None else Position(row.revision, row.event_time, row.event_id),
        customer_id=row.customer_id,
        content=row.content,
        total=None if row.total is None else Money(row.total, row.currency),
        points=row.points,
        ship_to=None if row.ship_to is None else json.loads(row.ship_to),
        grant_reason=row.grant_reason,
        confirmations=row.confirmations,
        shipments=row.shipments,
    )
