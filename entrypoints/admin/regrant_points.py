"""Grants again whatever points confirmed orders may lack: `python -m entrypoints.admin.regrant_points ORDER …`.

A worked example of a script of your own. It calls `GrantOrderPoints`, the use case behind the event, the message and
the command; an order that has its points already says so and nothing changes, however often the script runs.
"""

import sys

from domain.errors import Refused
from domain.orders.rules import OrderStatus
from entrypoints.container import Container, open_container
from entrypoints.settings import read_settings


def regrant(container: Container, order_id: str) -> str:
    """One order. Returns: what became of it, in words."""
    order = container.read_orders().get(order_id)
    if order is None or order.status is not OrderStatus.CONFIRMED:
        return "not a confirmed order"
    try:
        granted = container.grant_order_points().execute(
            order_id=order.order_id, customer_id=order.customer_id, points=order.points, reason=order.grant_reason
        )
    except Refused as refused:
        return str(refused)
    return f"granted {order.points} points" if granted else "already granted"


def main(order_ids: list[str]) -> None:
    """Shape: order ids as arguments, or one per line on standard input."""
    with open_container(read_settings(), broker=False) as container:
        for order_id in order_ids or map(str.strip, sys.stdin):
            print(f"{order_id}: {regrant(container, order_id)}")


if __name__ == "__main__":
    main(sys.argv[1:])
