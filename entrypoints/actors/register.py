"""All actors of this program on one broker."""

import dramatiq

from application.dispatch import ORDER_EVENT
from domain.shipping import CANCEL, REQUEST
from entrypoints.actors import orders, points, shipping
from entrypoints.actors.drains import Drain
from entrypoints.container import PARCELS_PER_CLAIM, Container


def register_actors(container: Container, *, threads: int) -> dramatiq.Broker:
    """Declares every actor; a drain may take at most half of the worker's threads, so that others stay free."""
    broker: dramatiq.Broker = container.broker()
    heard = container.rings().heard
    at_once = max(1, threads // 2)
    apply, request, cancel = (
        container.apply_order_events(),
        container.perform_shipment_requests(),
        container.perform_shipment_cancels(),
    )
    events = Drain(lambda: sum(apply.execute().values()), lambda slot: heard(ORDER_EVENT, slot), at_once=at_once)
    requests = Drain(lambda: request.execute(PARCELS_PER_CLAIM), lambda slot: heard(REQUEST, slot), at_once=at_once)
    cancels = Drain(lambda: cancel.execute(PARCELS_PER_CLAIM), lambda slot: heard(CANCEL, slot), at_once=at_once)
    orders.register(broker, container.accept_order_events(), events)
    points.register(broker, container.grant_order_points())
    shipping.register(broker, container.ask_for_shipment(), request, requests, cancels)
    return broker
