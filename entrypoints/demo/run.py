"""The run: everything real, everything of its own."""

import itertools
import logging
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import dramatiq
import httpx
from pydantic import SecretStr

from application.orders import BATCH_EVENTS
from domain.errors import Malformed
from domain.points import EntryKind
from entrypoints.container import Container, open_container
from entrypoints.crew import start_crew, start_sandbox
from entrypoints.demo.ledgers import Effect, parcels_at_the_carrier
from entrypoints.demo.sample import Sample
from entrypoints.progress import progress
from entrypoints.settings import OwnSettings, Settings
from entrypoints.supervisor import Supervisor

WORKERS: Final = 2
THREADS: Final = 8
POLL_SECONDS: Final = 0.2
STANDSTILL_SECONDS: Final = 60.0  # far above every lease and retry of the demo
# What the outside world does to us: silence after the work, resets, broken answers, busy and failing carriers.
FAULTS: Final = (
    "silent_after",
    "reset_after",
    "reset_before",
    "cut_json",
    "html",
    "status_503",
    "retry_after_1",
    "in_progress",
)
QUEUED_AT_MOST: Final = 2_000  # deliveries sent one by one through the queue; the rest comes in sets


@dataclass(frozen=True)
class DemoPlan:
    """What the demo shall do: how many events, which share of them again, whether to kill a worker."""

    home: Path
    events: int
    redeliver: float
    kill: bool


@dataclass(frozen=True)
class DemoResult:
    """What really happened, per effect."""

    effects: tuple[Effect, ...]
    killed_workers: int


def run_demo(plan: DemoPlan) -> DemoResult:
    """Delivers, doubles, kills, waits until nothing is owed, counts."""
    logging.getLogger("entrypoints.supervisor").setLevel(logging.ERROR)  # a killed worker is what we came to see
    sample = Sample(plan.events, plan.redeliver)
    settings = _own_settings(plan.home)
    with open_container(settings) as container, Supervisor() as supervisor:
        settings = container.settings()
        log = plan.home / "crew.log"
        sandbox = start_sandbox(supervisor, settings, log=log)
        carrier = {"carrier_url": sandbox, "carrier_token": SecretStr("demo")}
        _script_faults(sandbox, plan.events)
        settings = settings.model_copy(update=carrier)
        workers = start_crew(supervisor, settings, workers=WORKERS, threads=THREADS, log=log)
        with progress("delivering", plan.events) as bar:
            delivered = _deliver(container, sample, bar.to)
        killed, seen, moved_at = 0, 0, time.monotonic()
        with progress("parcels", plan.events) as bar:
            while not _is_done(container):
                booked = _booked(sandbox)
                bar.to(booked)
                if plan.kill and not killed and booked >= plan.events // 3:
                    # As a machine that loses power would; the supervisor starts another one.
                    workers[0].signal(signal.SIGKILL)
                    killed = 1
                if booked > seen:
                    seen, moved_at = booked, time.monotonic()
                if time.monotonic() - moved_at > STANDSTILL_SECONDS:
                    break  # what is missing then is what the table is for
                supervisor.tend()
                time.sleep(POLL_SECONDS)
        return DemoResult(tuple(_count(container, sandbox, sample, delivered)), killed)


def _own_settings(home: Path) -> Settings:
    if home.exists() and any(home.iterdir()):
        raise Malformed("--keep", f"{home} is not empty; the demo wants a fresh folder")
    return OwnSettings(
        home=home,
        call_deadline_seconds=1.0,
        lease_seconds=5.0,
        retry_first_seconds=0.2,
        retry_max_seconds=5.0,
        max_attempts=50,
        broker_heartbeat_seconds=5.0,
    )


def _script_faults(sandbox: str, events: int) -> None:
    """Spreads the faults over the orders."""
    for place, fault in enumerate(FAULTS, start=1):
        order_id = f"o-{max(1, events * place // (len(FAULTS) + 1))}"
        body = {"target": "shipments", "match": order_id, "fault": fault, "times": 1}
        httpx.post(f"{sandbox}/_faults", json=body, trust_env=False).raise_for_status()


def _deliver(container: Container, sample: Sample, progressed: Callable[[int], None]) -> int:
    """By two doors: some repeats one by one through the queue, all else in sets. Returns: how many deliveries."""
    again = sample.again()
    queued = 0
    for event in itertools.islice(again, QUEUED_AT_MOST):
        container.broker().enqueue(dramatiq.Message("orders", "orders.process_event", (), {"event": event}, {}))
        queued += 1
    stored = 0
    for deliveries in _sets(itertools.chain(sample.first(), again)):
        container.accept_order_events().execute(deliveries)
        stored += len(deliveries)
        progressed(stored)
    return queued + stored


def _sets(events: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rows = iter(events)
    while chunk := list(itertools.islice(rows, BATCH_EVENTS)):
        yield chunk


def _is_done(container: Container) -> bool:
    """Whether the queue is empty, and nothing is due, under way or waiting for its time."""
    unheard = container.broker().do_qsize("orders")
    return (
        not unheard
        and not container.owed_work().execute()
        and not container.read_operations().find(state="ready", limit=1)
    )


def _booked(sandbox: str) -> int:
    summary = httpx.get(f"{sandbox}/_ledger/summary", timeout=60, trust_env=False).json()
    return int(summary["shipments"]["keys"])


def _count(container: Container, sandbox: str, sample: Sample, delivered: int) -> Iterator[Effect]:
    owed = [event["data"]["order_id"] for event in sample.first()]
    yield Effect.counted("points granted", delivered, owed, _grants(container, sample))
    yield Effect.counted("parcels requested", delivered, owed, parcels_at_the_carrier(sandbox))


def _grants(container: Container, sample: Sample) -> Iterator[str]:
    """One order id per grant in the ledger."""
    for customer_id in sorted({event["data"]["customer_id"] for event in sample.first()}):
        for entry in container.read_points().history(customer_id):
            if entry.kind is EntryKind.GRANT and entry.order_id is not None:
                yield entry.order_id
