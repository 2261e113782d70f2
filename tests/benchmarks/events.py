"""Order events in and applied, against one transaction per event on the same database."""

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from application.orders import BATCH_EVENTS
from entrypoints.cli.files import in_sets
from entrypoints.container import Container, open_container
from entrypoints.demo.sample import Sample
from entrypoints.settings import OwnSettings
from tests.benchmarks.plain import PlainShop


@dataclass(frozen=True)
class EventFigures:
    """Medians over the rounds. Units: events per second; megabytes of the process that imports and applies."""

    plain: float
    ours: float
    ratio: float
    megabytes: float


def measure_events(folder: Path, *, events: int, plain_events: int, rounds: int) -> EventFigures:
    """Both in turn, round after round, in one database."""
    settings = OwnSettings(home=folder / "home", carrier_token=SecretStr(""))
    plain_rates, our_rates = [], []
    with open_container(settings, broker=False) as container:
        for number in range(rounds):
            plain = PlainShop(container.engine())
            plain_rates.append(_rate(lambda: plain.work(_events(plain_events, f"plain{number}")), plain_events))  # noqa: B023
            file = folder / "events.ndjson"
            file.write_text("".join(json.dumps(event) + "\n" for event in _events(events, f"ours{number}")))
            our_rates.append(_rate(lambda: _import_and_apply(container, file), events))  # noqa: B023
            print(
                f"round {number + 1}: one transaction each {plain_rates[-1]:,.0f}/s, ikkai {our_rates[-1]:,.0f}/s",
                file=sys.stderr,
            )
    return EventFigures(
        statistics.median(plain_rates),
        statistics.median(our_rates),
        statistics.median(ours / theirs for ours, theirs in zip(our_rates, plain_rates, strict=True)),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def _events(count: int, prefix: str) -> list[dict[str, Any]]:
    return [
        {
            **event,
            "id": f"{prefix}-{event['id']}",
            "data": {**event["data"], "order_id": f"{prefix}-{event['data']['order_id']}"},
        }
        for event in Sample(count, 0).first()
    ]


def _import_and_apply(container: Container, file: Path) -> None:
    with file.open("rb") as stream:
        for _, envelopes in in_sets(container.read_order_events(stream), BATCH_EVENTS, "events"):
            container.accept_order_events().execute(envelopes)
    while container.apply_order_events().execute():
        pass


def _rate(work: Callable[[], None], count: int) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)
