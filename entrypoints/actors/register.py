"""All actors of this program on one broker."""

from collections.abc import Callable

import dramatiq

from application.dispatch import ORDER_EVENT
from application.operations import PerformOperations
from domain.shipping import CANCEL, REQUEST
from entrypoints.actors import orders, points, shipping
from entrypoints.actors.drains import Drain
from entrypoints.container import Container

DRAINS = 3  # kinds of work that are drained


def register_actors(
    container: Container, *, threads: int, stopping: Callable[[], bool] = lambda: False
) -> dramatiq.Broker:
    """Declares every actor. All drains together leave threads free for messages that carry something."""
    broker: dramatiq.Broker = container.broker()
    at_once = max(1, threads // (DRAINS + 1))
    per_claim = container.parcels_per_claim()

    def drain(kind: str, take_a_set: Callable[[], int]) -> Drain:
        return Drain(take_a_set, lambda slot: container.rings().heard(kind, slot), at_once=at_once, stopping=stopping)

    def performed(perform: PerformOperations) -> Callable[[], int]:
        return lambda: perform.execute(per_claim, stopping=stopping)

    apply = container.apply_order_events()
    requests, cancels = container.perform_shipment_requests(), container.perform_shipment_cancels()
    orders.register(broker, container.accept_order_events(), drain(ORDER_EVENT, lambda: sum(apply.execute().values())))
    points.register(broker, container.grant_order_points())
    shipping.register(
        broker,
        container.request_shipment(),
        requests,
        drain(REQUEST, performed(requests)),
        drain(CANCEL, performed(cancels)),
    )
    return broker
