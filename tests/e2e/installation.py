"""A whole installation in small: real servers, the real outside world, real processes, short leases."""

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

import dramatiq
import psycopg
import redis
from pydantic import SecretStr
from sqlalchemy import make_url, text

from adapters.embedded import ServerUrls
from application.billing import Taken
from domain.calendar import Month
from domain.operations import Operation, State
from entrypoints.container import Container
from entrypoints.settings import OwnSettings, Settings
from entrypoints.supervisor import Process
from tests.e2e.commands import Finished, in_process
from tests.entrypoints.sandbox.world import ROOT, SHIP_TO, Parcel, World, running_world, until

# As short as a busy machine bears; a lease must be twice the deadline and a margin.
CALL_DEADLINE_SECONDS: Final = 1.0
LEASE_SECONDS: Final = 4.0
HEARTBEAT_SECONDS: Final = 5.0
# What is owed is done by then, whoever died: a lease, the dispatcher's rounds, a retry. On a busy machine a look-up may
# get no answer, and the next one comes after a minute. Only a failure waits so long.
SOON_SECONDS: Final = 100.0
# A dead worker's messages come back by a lottery after its heartbeat: 2 % of the commands, some ten a second.
REDELIVERED_SECONDS: Final = HEARTBEAT_SECONDS + 85.0
POINTS: Final = 100
# One month's subscription, and the bill that comes of it: 10 % tax are added.
PRICE: Final = 980
TOTAL: Final = 1078

_numbers = itertools.count(1)


def confirmed(order: Parcel, *, event_id: str | None = None, points: int = POINTS, **other: Any) -> dict[str, Any]:
    """The event that an order was confirmed; its customer has no other order."""
    data = {"order_id": order.order_id, "customer_id": customer_of(order), "currency": "JPY", "total": 12_000}
    return {
        "specversion": "1.0",
        "source": "shop",
        "id": event_id or f"confirmed-{order.order_id}",
        "type": "order.confirmed",
        "time": "2026-10-03T12:34:56+09:00",
        "data": data | {"points": points, "ship_to": SHIP_TO} | other,
    }


def soon(true: Callable[[], bool]) -> None:
    """Waits until it is true, and fails if it never will be."""
    until(true, SOON_SECONDS)


def customer_of(order: Parcel) -> str:
    return f"c-{order.order_id}"


class Keyed(Protocol):
    """Something that happens once outside, by the key under which it does."""

    @property
    def key(self) -> str: ...


class Installation:
    """Processes that a test starts, hurts and kills, and both books of what happened: the world's and ours."""

    def __init__(self, world: World, settings: Settings) -> None:
        self.world = world
        self.settings = settings
        self.container = Container(settings=settings)
        self.processes: list[Process] = []

    def start(self, *arguments: str, **variables: str) -> Process:
        """Starts `python -m …` with these settings and more variables, and waits until it is ready."""
        environment = self.settings.as_environment() | {"PYTHONPATH": str(ROOT)} | variables
        process = Process(arguments[0], arguments, environment)
        self.processes.append(process)
        process.start()
        return process

    def start_worker(self, *, threads: int = 2) -> Process:
        return self.start("entrypoints.worker", "--threads", str(threads))

    def start_dispatcher(self) -> Process:
        return self.start("entrypoints.dispatcher")

    def confirm(self, *orders: Parcel, apply: bool = False) -> None:
        """Takes in that these orders were confirmed. `apply` does what the workers would do with the events."""
        receipt = self.container.accept_order_events().execute([confirmed(order) for order in orders])
        assert receipt.accepted == len(orders), receipt
        if apply:
            self.container.apply_order_events().execute()

    def subscribe(
        self, month: str, *customer_ids: str, payment_method: str = "pm_card_visa", price: int = PRICE
    ) -> None:
        """Makes these customers subscribers for this one month."""
        cards = [
            {"customer_id": one, "payment_method": payment_method, "payment_customer": f"cus_{one}"}
            for one in customer_ids
        ]
        self.container.update_customers().execute(cards)
        days, plan = Month.parse("month", month), {"plan": "monthly box", "price": price, "currency": "JPY"}
        plan |= {"tax_rate": 10, "tax_included": False, "start": str(days.first_day), "end": str(days.last_day)}
        subscriptions = [plan | {"subscription_id": f"s-{one}", "customer_id": one} for one in customer_ids]
        outcomes = self.container.import_subscriptions().execute(subscriptions)
        assert outcomes == [Taken.ACCEPTED] * len(customer_ids), outcomes

    def send(
        self, actor: str, content: dict[str, Any], *, copies: int = 1, delay_milliseconds: int | None = None
    ) -> None:
        """Puts the identical message on its queue, as a producer would, that many times."""
        message: dramatiq.Message[Any] = dramatiq.Message(actor.partition(".")[0], actor, (), content, {})
        for _ in range(copies):
            self.container.broker().enqueue(message, delay=delay_milliseconds)

    def send_event(self, order: Parcel, *, copies: int = 1, delay_milliseconds: int | None = None) -> None:
        """Puts it on the queue that the order was confirmed."""
        content = {"event": confirmed(order)}
        self.send("orders.process_event", content, copies=copies, delay_milliseconds=delay_milliseconds)

    def send_grant(self, order: Parcel, *, copies: int = 1, delay_milliseconds: int | None = None) -> None:
        """Puts it on the queue that the order's points are to be granted."""
        content = {"order_id": order.order_id, "customer_id": customer_of(order), "points": POINTS}
        self.send("points.grant_order_points", content, copies=copies, delay_milliseconds=delay_milliseconds)

    def ikkai(self, *arguments: str) -> Finished:
        """Runs a command beside the processes, on the same servers."""
        return in_process(*arguments, environment=self.settings.as_environment())

    def booked(self) -> int:
        """How many orders have a parcel at the carrier."""
        summary = self.world.http.get("/_ledger/summary").raise_for_status().json()
        return int(summary["shipments"]["keys"])

    def rows(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """What our tables say."""
        with self.container.engine().connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement), values)]

    def operation(self, one: Keyed) -> Operation:
        return self.container.read_operations().get(one.key)

    def story(self, one: Keyed) -> list[str]:
        """What happened to it, step by step."""
        steps = self.container.read_operations().story(one.key)
        return [f"{step['what']} {step['detail'] or ''}".strip() for step in steps]

    def wait_for(self, state: State, *wanted: Keyed) -> None:
        """Waits until these are in this state."""
        keys = [one.key for one in wanted]
        count = "SELECT count(*) FROM operations WHERE key = ANY(:keys) AND state = :state"
        soon(lambda: self.rows(count, keys=keys, state=state) == [(len(wanted),)])

    def ledger(self, kind: str, *wanted: Keyed) -> list[dict[str, Any]]:
        """What really happened under these keys. Key: `kind` is `charges`, `refunds` or `shipments`."""
        keys = {one.key for one in wanted}
        rows: list[dict[str, Any]] = self.world.http.get("/_ledger").raise_for_status().json()[kind]
        return [row for row in rows if row["key"] in keys]

    def asked(self, kind: str, *wanted: Keyed) -> list[dict[str, Any]]:
        """The requests to do something that the world has seen under these keys."""
        keys = {one.key for one in wanted}
        report = self.world.http.get("/_requests", params={"target": kind, "method": "POST"}).json()
        return [row for row in report["requests"] if row["key"] in keys]

    def script(self, kind: str, fault: str, match: str, times: int | None = 1) -> None:
        """Lets the next requests go wrong that are of this kind and name what matches."""
        wish = {"target": kind, "fault": fault, "match": match, "times": times}
        self.world.http.post("/_faults", json=wish).raise_for_status()

    def dead_letters(self) -> list[tuple[str, str]]:
        """Queue and reason of each, in the order in which they came."""
        letters = self.container.read_dead_letters().execute()
        return [(letter["queue"], letter["reason"]) for letter in reversed(letters)]

    def redis(self) -> "redis.Redis":
        """A client of the queue's server. To be closed by whoever asks."""
        return redis.Redis.from_url(str(self.settings.broker_url))

    def assert_done_once(self, orders: Sequence[Parcel]) -> None:
        """Each order has one parcel at the carrier and one grant in the ledger, and nobody else has any."""
        owed = dict.fromkeys((order.order_id for order in orders), 1)
        shipments = self.world.http.get("/_ledger").raise_for_status().json()["shipments"]
        assert Counter(row["order_id"] for row in shipments) == owed
        grants = self.rows("SELECT order_id FROM point_entries WHERE kind = 'grant'")
        assert Counter(order_id for (order_id,) in grants) == owed
        assert self.rows("SELECT coalesce(sum(balance), 0) FROM point_balances") == [(POINTS * len(orders),)]

    def end(self) -> None:
        """Ends everything at once; nothing of an installation outlives its test."""
        for process in self.processes:
            process.kill()
        self.container.shipping_gateway().close()
        self.container.payment_gateway().close()
        self.container.redis_client().close()
        self.container.engine().dispose()


@contextmanager
def running_installation(
    servers: ServerUrls, template: str, *, honours_keys: bool = True, latency_ms: int = 0, **settings: Any
) -> Iterator[Installation]:
    """An outside world of its own, an empty queue and a fresh database; the test starts the processes it wants."""
    with redis.Redis.from_url(servers.broker_url) as client:
        client.flushall()
    with fresh_database(servers, template) as database_url:
        urls = ServerUrls(database_url, servers.broker_url)
        with installation_on(urls, honours_keys=honours_keys, latency_ms=latency_ms, **settings) as installation:
            yield installation


@contextmanager
def installation_on(
    urls: ServerUrls, *, honours_keys: bool = True, latency_ms: int = 0, **settings: Any
) -> Iterator[Installation]:
    """An installation on these servers, which hold a migrated database and an empty queue."""
    keys = ("--carrier-keys", "--stripe-keys") if honours_keys else ("--no-carrier-keys", "--no-stripe-keys")
    settings = {"carrier_honours_keys": honours_keys, "stripe_honours_keys": honours_keys} | settings
    with running_world(*keys, "--latency-ms", str(latency_ms)) as world:
        installation = Installation(world, short_settings(urls, world, **settings))
        try:
            yield installation
        finally:
            installation.end()


def short_settings(urls: ServerUrls, world: World, **other: Any) -> Settings:
    """Settings that nothing in the environment of the tests can change."""
    short: dict[str, Any] = {
        "database_url": urls.database_url,
        "broker_url": urls.broker_url,
        "carrier_url": world.url,
        "carrier_token": SecretStr("token"),
        "stripe_api_base": world.url,
        "stripe_api_key": SecretStr("sk_test_1"),
        "call_deadline_seconds": CALL_DEADLINE_SECONDS,
        "lease_seconds": LEASE_SECONDS,
        "retry_first_seconds": 0.1,
        "retry_max_seconds": 1.0,
        "broker_heartbeat_seconds": HEARTBEAT_SECONDS,
    }
    return OwnSettings(**(short | other))


@contextmanager
def fresh_database(servers: ServerUrls, template: str) -> Iterator[str]:
    """The URL of a migrated database for as long as a module's tests share it."""
    name = f"shared_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(servers.database_url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    try:
        yield make_url(servers.database_url).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(servers.database_url, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
