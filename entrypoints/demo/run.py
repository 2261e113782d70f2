"""The run: everything real, everything of its own."""

import itertools
import logging
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import dramatiq
import httpx

from application.orders import BATCH_EVENTS
from domain.errors import Malformed
from domain.points import EntryKind
from entrypoints.container import Container, open_container
from entrypoints.crew import sandbox_settings, start_crew, start_sandbox
from entrypoints.demo.ledgers import Effect, Outside, tallied
from entrypoints.demo.month import BilledMonth
from entrypoints.demo.sample import Sample
from entrypoints.progress import progress
from entrypoints.settings import OwnSettings, Settings
from entrypoints.supervisor import Process, Supervisor

WORKERS: Final = 2
THREADS: Final = 8
RUNS: Final = 2  # the month is billed so often while workers charge it, and once more afterwards
POLL_SECONDS: Final = 0.2
STANDSTILL_SECONDS: Final = 60.0  # far above every lease and retry of the demo
# What the outside world does to us: silence after the work, resets, broken answers, busy and failing providers.
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
    """Delivers, doubles, bills twice, kills, gives back, waits until nothing is owed, counts."""
    logging.getLogger("entrypoints.supervisor").setLevel(logging.ERROR)  # a killed worker is what we came to see
    sample = Sample(plan.events, plan.redeliver)
    settings = _own_settings(plan.home)
    with open_container(settings) as container, Supervisor() as supervisor:
        log = plan.home / "crew.log"
        sandbox = start_sandbox(supervisor, container.settings(), log=log)
        settings = container.settings().model_copy(update=sandbox_settings(sandbox, "demo"))
        billed = BilledMonth.of(container, sample.customers)
        _script_faults(sandbox, "shipments", [f"o-{number}" for number in range(1, plan.events + 1)])
        _script_faults(sandbox, "charges", billed.paying)
        workers = start_crew(supervisor, settings, workers=WORKERS, threads=THREADS, log=log)
        work = Watch(container, supervisor, sandbox)
        with progress("delivering", plan.events) as bar:
            delivered = _deliver(container, sample, bar.to)
        killing = workers if plan.kill else []
        work.until_done("shipments", plan.events, kill=killing[:1])
        runner = container.billing_runner()
        runs = [runner.run(str(billed.month), wait=False) for _ in range(RUNS)]
        work.until_done("charges", len(billed.paying), kill=killing[1:2])
        runs.append(runner.run(str(billed.month)))
        _script_faults(sandbox, "refunds", billed.refunded)
        for _ in range(RUNS):
            billed.refund_each(container.request_refund())
        work.until_done("refunds", len(billed.refunded))
        seen, owed = Outside.seen(sandbox), [event["data"]["order_id"] for event in sample.first()]
        effects = (
            Effect.counted("points granted", delivered, owed, _grants(container, sample)),
            Effect.counted("parcels requested", delivered, owed, seen.parcels),
            Effect.counted("bills charged", len(runs) * len(billed.paying), billed.paying, seen.charges),
            Effect.counted("refunds sent", RUNS * len(billed.refunded), billed.refunded, seen.refunds),
        )
        return DemoResult(effects, work.killed)


class Watch:
    """Waits for the crew to finish, killing one of it in the middle."""

    def __init__(self, container: Container, supervisor: Supervisor, sandbox: str) -> None:
        self._container = container
        self._supervisor = supervisor
        self._sandbox = sandbox
        self.killed = 0

    def until_done(self, what: str, expected: int, *, kill: Sequence[Process] = ()) -> None:
        """Returns when nothing is owed any more, or nothing has moved for long: what is missing is for the table."""
        to_kill, seen, moved_at = list(kill), 0, time.monotonic()
        with progress(what, expected) as bar:
            while not _is_done(self._container):
                done = tallied(self._sandbox)[what]
                bar.to(done)
                if to_kill and done >= expected // 3:
                    # As a machine that loses power would; the supervisor starts another one.
                    to_kill.pop().signal(signal.SIGKILL)
                    self.killed += 1
                if done > seen:
                    seen, moved_at = done, time.monotonic()
                if time.monotonic() - moved_at > STANDSTILL_SECONDS:
                    return
                self._supervisor.tend()
                time.sleep(POLL_SECONDS)


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


def _script_faults(sandbox: str, target: str, whom: Sequence[str]) -> None:
    """Spreads the faults over those whom they shall meet, where there are enough of them."""
    for place, fault in enumerate(FAULTS, start=1):
        match = whom[min(len(whom) - 1, len(whom) * place // (len(FAULTS) + 1))]
        body = {"target": target, "match": match, "fault": fault, "times": 1}
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


def _grants(container: Container, sample: Sample) -> Iterator[str]:
    """One order id per grant in the ledger."""
    for customer_id in sorted({event["data"]["customer_id"] for event in sample.first()}):
        for entry in container.read_points().history(customer_id):
            if entry.kind is EntryKind.GRANT and entry.order_id is not None:
                yield entry.order_id
