"""Where ports meet adapters: the one file that knows both."""

import os
import socket
import uuid
from collections.abc import Iterator, Mapping
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
from adapters.files.plans import items, subscriptions
from adapters.http.shipping import HttpShippingGateway
from adapters.postgres.engine import open_engine
from adapters.postgres.fitness import postgres_facts
from adapters.postgres.schema import current_revision, is_current, is_empty, migrate, newest_revision
from adapters.postgres.transactions import PostgresClock, PostgresTransactions
from adapters.postgres.wake import PostgresWake
from adapters.redis.fitness import redis_facts
from adapters.redis.rings import RedisRings
from adapters.stripe.notices import read_notice
from adapters.stripe.payments import StripePaymentGateway
from application.billing import CreateBills, ImportItems, ImportSubscriptions, ReadBills, RunBilling
from application.customers import UpdateCustomers
from application.dispatch import ORDER_EVENT, Dispatch, OwedWork, RingDueWork
from application.messages import KeepDeadLetter, ReadDeadLetters
from application.operations import (
    DecideOperation,
    Performer,
    PerformOperations,
    ReadOperations,
    ReconcileUnknowns,
    SweepLeases,
    Timing,
)
from application.orders import BATCH_EVENTS, AcceptOrderEvents, ApplyOrderEvents, ReadOrders, RetryOrderEvent
from application.payments import RequestRefund, SendRefund, TakeNotice
from application.points import GrantOrderPoints, ReadPoints, RedeemPoints
from application.shipping import ReadShipments, RequestShipment
from application.workers import TellOfWorkers, WorkOff
from domain.operations import Policy
from domain.payments import CHARGE, REFUND, Notice
from entrypoints.settings import InvalidSettings, Settings
from entrypoints.work import PARCELS_AT_ONCE, RING_ACTORS, Work, kinds_of_work

__all__ = ["Container", "ServersUnavailable", "close", "open_container", "take_migrations", "worker_name"]


PATIENCE_SECONDS: Final = 10.0


def worker_name() -> str:
    """Unique per start of a process: a new process with an old id must not take over its work."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def _ring_sets(work: Mapping[str, Work]) -> dict[str, int]:
    return {ORDER_EVENT: BATCH_EVENTS, **{kind: one.per_claim for kind, one in work.items()}}


def _policies(work: Mapping[str, Work]) -> dict[str, Policy]:
    return {kind: one.performer.policy for kind, one in work.items()}


def _performers(work: Mapping[str, Work]) -> list[Performer]:
    return [one.performer for one in work.values()]


def _work_off(
    kind: str,
    workers: TellOfWorkers,
    perform: Mapping[str, PerformOperations],
    sweep: SweepLeases,
    reconcile: ReconcileUnknowns,
    work: Mapping[str, Work],
    timing: Timing,
) -> WorkOff:
    # A killed process's lease, and a call and its retry after that: whoever waits longer without seeing anything move
    # is told what is left.
    patience_seconds = 2 * timing.lease_seconds + PATIENCE_SECONDS
    return WorkOff(
        workers, perform[kind], sweep, reconcile, per_claim=work[kind].per_claim, patience_seconds=patience_seconds
    )


def _perform_each(
    work: Mapping[str, Work], transactions: PostgresTransactions, timing: Timing, clock: PostgresClock, worker: str
) -> dict[str, PerformOperations]:
    return {
        kind: PerformOperations(
            transactions, one.performer, one.retry_policy, timing, clock, worker=worker, at_once=one.at_once
        )
        for kind, one in work.items()
    }


def _read_notice(settings: Settings, clock: PostgresClock, body: bytes, signature: str | None) -> Notice | None:
    """What the provider signed with the secret we share, and when it did by the world's clock."""
    secret = settings.stripe_webhook_secret.get_secret_value()
    return read_notice(body, signature, secret, now=clock.now() - settings.clock_ahead)


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
    timing = settings.provided.timing

    read_order_events = providers.Callable(envelopes)
    read_customers = providers.Callable(customers)

    accept_order_events = providers.Singleton(AcceptOrderEvents, transactions, clock)
    apply_order_events = providers.Singleton(ApplyOrderEvents, transactions, point_rules)
    retry_order_event = providers.Singleton(RetryOrderEvent, transactions)
    read_orders = providers.Singleton(ReadOrders, transactions)
    update_customers = providers.Singleton(UpdateCustomers, transactions, clock)
    grant_order_points = providers.Singleton(GrantOrderPoints, transactions, point_rules, clock)
    redeem_points = providers.Singleton(RedeemPoints, transactions, point_rules, clock)
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
    payment_gateway = providers.Singleton(
        StripePaymentGateway,
        settings.provided.stripe_api_base,
        settings.provided.stripe_api_key.get_secret_value.call(),
        deadline_seconds=settings.provided.call_deadline_seconds,
        max_retry_after_seconds=settings.provided.retry_max_seconds,
        in_flight=settings.provided.stripe_in_flight,
        now=clock.provided.now,
        clock_ahead=settings.provided.clock_ahead,
    )
    request_shipment = providers.Singleton(RequestShipment, transactions)
    read_shipments = providers.Singleton(ReadShipments, transactions)

    worker = providers.Singleton(worker_name)
    work = providers.Singleton(kinds_of_work, settings, shipping_gateway, payment_gateway)
    perform = providers.Singleton(_perform_each, work, transactions, timing, clock, worker)
    policies = providers.Singleton(_policies, work)
    sweep_leases = providers.Singleton(SweepLeases, transactions, policies, settings.provided.carrier_retry_policy)
    reconcile_unknowns = providers.Singleton(ReconcileUnknowns, transactions, providers.Singleton(_performers, work))
    tell_of_workers = providers.Singleton(TellOfWorkers, transactions, worker)
    work_off_charges = providers.Singleton(
        _work_off, CHARGE, tell_of_workers, perform, sweep_leases, reconcile_unknowns, work, timing
    )
    work_off_refunds = providers.Singleton(
        _work_off, REFUND, tell_of_workers, perform, sweep_leases, reconcile_unknowns, work, timing
    )

    read_subscriptions = providers.Callable(subscriptions)
    read_items = providers.Callable(items)
    import_subscriptions = providers.Singleton(ImportSubscriptions, transactions)
    import_items = providers.Singleton(ImportItems, transactions)
    read_bills = providers.Singleton(ReadBills, transactions)
    create_bills = providers.Singleton(CreateBills, transactions, clock, settings.provided.billing_terms)
    billing_runner = providers.Singleton(
        RunBilling, transactions, create_bills, perform.provided[CHARGE], work_off_charges
    )
    request_refund = providers.Singleton(RequestRefund, transactions)
    send_refund = providers.Singleton(
        SendRefund, transactions, request_refund, perform.provided[REFUND], work_off_refunds, clock
    )
    take_notice = providers.Singleton(TakeNotice, transactions)
    read_notice = providers.Callable(_read_notice, settings, clock)

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
        providers.Singleton(_ring_sets, work),
    )
    owed_work = providers.Singleton(OwedWork, transactions, providers.Singleton(list, work))
    dispatch = providers.Singleton(Dispatch, ring_due_work, sweep_leases, reconcile_unknowns)


def close(container: Container) -> None:
    """Ends the connections of this process; what is still being said is cut off."""
    container.shipping_gateway().close()
    container.payment_gateway().close()
    container.engine().dispose()


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
            close(container)


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
