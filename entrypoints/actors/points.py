"""Queue `points`."""

from typing import Any

import dramatiq

from application.points import GrantOrderPoints
from entrypoints.actors.declare import declare


def register(broker: dramatiq.Broker, grant: GrantOrderPoints) -> None:
    """Declares the actors of this context on `broker`."""

    def grant_order_points(*, order_id: Any, customer_id: Any, points: Any) -> None:
        """Grants an order's points; a repeat is a no-op, other points for the same order a dead letter."""
        grant.execute(order_id=order_id, customer_id=customer_id, points=points)

    declare(broker, "points", grant_order_points)
