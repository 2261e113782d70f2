"""Where ports meet adapters: the one file that knows both."""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

from dependency_injector import containers, providers
from sqlalchemy import Engine

from adapters.dramatiq.broker import open_broker, open_client
from adapters.dramatiq.doorbell import DramatiqDoorbell
from adapters.embedded import EmbeddedServers
from adapters.embedded import EmbeddedServersUnavailable as ServersUnavailable
from adapters.files.customers import customers
from adapters.files.order_events import envelopes
from adapters.http.shipping import HttpShippingGateway
from adapters.postgres.engine import open_engine
from adapters.postgres.fitness import postgres_facts
from adapters.postgres.schema import current_revision, is_current, is_empty, migrate, newest_revision
from adapters.postgres.transactions import PostgresClock, PostgresTransactions
from adapters.postgres.wake import PostgresWake
from adapters.redis.fitness import redis_facts
from adapters.redis.rings import RedisRings
from application.customers import UpdateCustomers
from application.dispatch import ORDER_EVENT, Dispatch, OwedWork, RingDueWork
from application.messages import KeepDeadLetter, ReadDeadLetters
from application.operations import (
    DecideOperation,
    PerformOperations,
    ReadOperations,
    ReconcileUnknowns,
    SweepLeases,
)
from application.orders import BATCH_EVENTS, AcceptOrderEvents, ApplyOrderEvents, ReadOrders, RetryOrderEvent
from application.points import GrantOrderPoints, ReadPoints
from application.shipping import ReadShipments, RequestShipment, ShipmentCancelPerformer, ShipmentRequestPerformer
from domain.operations import Policy, policy_of
from domain.shipping import CANCEL, REQUEST
from entrypoints.settings import InvalidSettings, Settings

__all__ = ["Container", "ServersUnavailable", "open_container", "take_migrations", "worker_name"]

# Claimed together are so many times what is sent at once: fewer commits, and few enough for one lease where each
# call takes a second.
SENDS_PER_CLAIM: Final = 8
# Parcels gated and sent at once: as many as the gateway has calls in flight. Where the carrier knows no keys a dead
# worker leaves that many for a person to settle: then one by one.
PARCELS_AT_ONCE: Final = 8

RING_ACTORS: Final = {
    ORDER_EVENT: "orders.apply_due_events",
    REQUEST: "shipping.request_due_shipments",
    CANCEL: "shipping.cancel_due_shipments",
}


def worker_name() -> str:
    """Unique per start of a process: a new process with an old id must not take over its work."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def _policies(*, honours_keys: bool) -> dict[str, Policy]:
    return {kind: policy_of(kind, honours_keys=honours_keys) for kind in (REQUEST, CANCEL)}


def _per_claim(at_once: int) -> int:
    return at_once * SENDS_PER_CLAIM


def _ring_sets(per_claim: int) -> dict[str, int]:
    return {ORDER_EVENT: BATCH_EVENTS, REQUEST: per_claim, CANCEL: per_claim}


def _parcels_at_once(*, honours_keys: bool) -> int:
    return PARCELS_AT_ONCE if honours_keys else 1


class Container(containers.DeclarativeContainer):
    """One process's objects, made on first use. Give it `settings` with both URLs filled in."""

    settings = providers.Dependency(instance_of=Settings)
    pool_size = providers.Object(5)

    engine = providers.Singleton(
        open_engine, settings.provided.database_url, pool_size=pool_size, clock_offset=settings.provided.clock_offset
    )
    transactions = providers.Singleton(PostgresTransactions, engine)
    clock = providers.Singleton(PostgresClock, engine)
    wake = providers.Singleton(PostgresWake, engine)
    postgres_facts = providers.Callable(postgres_facts, engine)
    schema_is_current = providers.Callable(is_current, engine)

    point_rules = settings.provided.point_rules
    retry_policy = settings.provided.retry_policy
    timing = settings.provided.timing
    policies = providers.Singleton(_policies, honours_keys=settings.provided.carrier_honours_keys)

    read_order_events = providers.Callable(envelopes)
    read_customers = providers.Callable(customers)

    accept_order_events = providers.Singleton(AcceptOrderEvents, transactions, clock)
    apply_order_events = providers.Singleton(ApplyOrderEvents, transactions, point_rules)
    retry_order_event = providers.Singleton(RetryOrderEvent, transactions)
    read_orders = providers.Singleton(ReadOrders, transactions)
    update_customers = providers.Singleton(UpdateCustomers, transactions, clock)
    grant_order_points = providers.Singleton(GrantOrderPoints, transactions, point_rules, clock)
    read_points = providers.Singleton(ReadPoints, transactions)

    shipping_gateway = providers.Singleton(
        HttpShippingGateway,
        settings.provided.carrier_url,
        settings.provided.carrier_token.get_secret_value.call(),
        deadline_seconds=settings.provided.call_deadline_seconds,
        max_retry_after_seconds=settings.provided.retry_max_seconds,
        in_flight=PARCELS_AT_ONCE,
        now=clock.provided.now,  # Retry-After may be a date, and one clock counts
    )
    shipment_request_performer = providers.Singleton(
        ShipmentRequestPerformer, shipping_gateway, policies.provided[REQUEST]
    )
    shipment_cancel_performer = providers.Singleton(
        ShipmentCancelPerformer, shipping_gateway, policies.provided[CANCEL]
    )
    request_shipment = providers.Singleton(RequestShipment, transactions)
    read_shipments = providers.Singleton(ReadShipments, transactions)

    worker = providers.Singleton(worker_name)
    parcels_at_once = providers.Singleton(_parcels_at_once, honours_keys=settings.provided.carrier_honours_keys)
    parcels_per_claim = providers.Singleton(_per_claim, parcels_at_once)
    perform_shipment_requests = providers.Singleton(
        PerformOperations,
        transactions,
        shipment_request_performer,
        retry_policy,
        timing,
        clock,
        worker=worker,
        at_once=parcels_at_once,
    )
    perform_shipment_cancels = providers.Singleton(
        PerformOperations,
        transactions,
        shipment_cancel_performer,
        retry_policy,
        timing,
        clock,
        worker=worker,
        at_once=parcels_at_once,
    )
    sweep_leases = providers.Singleton(SweepLeases, transactions, policies, retry_policy)
    reconcile_unknowns = providers.Singleton(
        ReconcileUnknowns, transactions, providers.List(shipment_request_performer, shipment_cancel_performer)
    )
    decide_operation = providers.Singleton(DecideOperation, transactions)
    read_operations = providers.Singleton(ReadOperations, transactions)

    keep_dead_letter = providers.Singleton(KeepDeadLetter, transactions)
    read_dead_letters = providers.Singleton(ReadDeadLetters, transactions)

    redis_client = providers.Singleton(open_client, settings.provided.broker_url)
    redis_facts = providers.Callable(redis_facts, redis_client)
    rings = providers.Singleton(RedisRings, redis_client)
    broker = providers.Singleton(
        open_broker,
        redis_client,
        keep_dead_letter.provided.execute,
        heartbeat_seconds=settings.provided.broker_heartbeat_seconds,
    )
    doorbell = providers.Singleton(DramatiqDoorbell, broker, RING_ACTORS, rings.provided.first)
    ring_due_work = providers.Singleton(
        RingDueWork,
        transactions,
        doorbell,
        providers.Singleton(_ring_sets, parcels_per_claim),
    )
    owed_work = providers.Singleton(OwedWork, transactions, (REQUEST, CANCEL))
    dispatch = providers.Singleton(Dispatch, ring_due_work, sweep_leases, reconcile_unknowns)


@contextmanager
def open_container(settings: Settings, *, broker: bool = True) -> Iterator[Container]:
    """A container on running servers with a fitting schema: the configured ones, or embedded ones started on demand.

    Raises: InvalidSettings when a configured database is at another revision; EmbeddedServersUnavailable.
    """
    wanted = {"database": settings.database_url is None, "broker": broker and settings.broker_url is None}
    with EmbeddedServers(settings.home, **wanted) if any(wanted.values()) else nullcontext(None) as urls:
        if urls is not None:
            started = {f"{name}_url": getattr(urls, f"{name}_url") for name, needed in wanted.items() if needed}
            settings = settings.model_copy(update=started)
        container = Container(settings=settings)
        try:
            _ensure_schema(container.engine(), may_upgrade=wanted["database"])
            yield container
        finally:
            container.engine().dispose()


def take_migrations(settings: Settings, *, dry: bool) -> tuple[str | None, str | None, str]:
    """Takes the missing steps, or (dry) none. Returns: the revision before, after, and the one needed."""
    needs_own = settings.database_url is None
    with EmbeddedServers(settings.home, broker=False) if needs_own else nullcontext(None) as urls:
        engine = open_engine(urls.database_url if urls is not None else str(settings.database_url))
        try:
            before = current_revision(engine)
            if not dry:
                migrate(engine)
            return before, current_revision(engine), newest_revision()
        finally:
            engine.dispose()


def _ensure_schema(engine: Engine, *, may_upgrade: bool) -> None:
    """An empty database is set up; an older one only where it is our own, for others may be using it."""
    at = current_revision(engine)
    if at == newest_revision():
        return
    if may_upgrade or (at is None and is_empty(engine)):
        migrate(engine)
    else:
        found = f"at revision {at}" if at is not None else "not empty and not set up"
        raise InvalidSettings(f"the database is {found}, this program needs {newest_revision()}; run: ikkai migrate")
