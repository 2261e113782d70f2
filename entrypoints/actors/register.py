"""All actors of this program on one broker."""

from collections.abc import Callable

import dramatiq

from application.dispatch import ORDER_EVENT
from domain.payments import CHARGE, REFUND
from domain.shipping import CANCEL, REQUEST
from entrypoints.actors import billing, orders, payments, points, shipping
from entrypoints.actors.drains import Drain
from entrypoints.container import Container
from entrypoints.work import RING_ACTORS


def register_actors(
    container: Container, *, threads: int, stopping: Callable[[], bool] = lambda: False
) -> dramatiq.Broker:
    """Declares every actor. All drains together leave threads free for messages that carry something."""
    broker: dramatiq.Broker = container.broker()
    at_once = max(1, threads // (len(RING_ACTORS) + 1))
    work, perform, apply = container.work(), container.perform(), container.apply_order_events()

    def drain(kind: str, take_a_set: Callable[[], int]) -> Drain:
        return Drain(take_a_set, lambda slot: container.rings().heard(kind, slot), at_once=at_once, stopping=stopping)

    def outside(kind: str) -> Drain:
        return drain(kind, lambda: perform[kind].execute(work[kind].per_claim, stopping=stopping))

    orders.register(broker, container.accept_order_events(), drain(ORDER_EVENT, lambda: sum(apply.execute().values())))
    points.register(broker, container.grant_order_points())
    shipping.register(broker, container.request_shipment(), perform[REQUEST], outside(REQUEST), outside(CANCEL))
    billing.register(broker, container.billing_runner())
    payments.register(broker, container.send_refund(), outside(CHARGE), outside(REFUND))
    return broker
