"""`make bench`: order events in and applied, against one transaction per event on the same database."""

import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import SecretStr

from application.orders import BATCH_EVENTS
from entrypoints.cli.files import in_sets
from entrypoints.container import Container, open_container
from entrypoints.demo.sample import Sample
from entrypoints.settings import OwnSettings
from tests.benchmarks.plain import PlainShop

TARGET_RATIO = 4.0
TARGET_MEGABYTES = 300


def main(
    events: Annotated[int, typer.Option(help="Events per round of ours.")] = 100_000,
    plain_events: Annotated[int, typer.Option(help="Events per round of one transaction each.")] = 3_000,
    rounds: Annotated[int, typer.Option(help="Rounds of both, in turn.")] = 3,
) -> None:
    """Prints medians and the ratio; a figure below its target is said, not hidden."""
    with tempfile.TemporaryDirectory(prefix="ikkai-bench-") as folder:
        settings = OwnSettings(home=Path(folder) / "home", carrier_token=SecretStr(""))
        with open_container(settings, broker=False) as container:
            plain_rates, our_rates = [], []
            for number in range(rounds):
                plain = PlainShop(container.engine())
                plain_rates.append(_rate(lambda: plain.work(_events(plain_events, f"plain{number}")), plain_events))  # noqa: B023
                file = Path(folder) / "events.ndjson"
                file.write_text("".join(json.dumps(event) + "\n" for event in _events(events, f"ours{number}")))
                our_rates.append(_rate(lambda: _import_and_apply(container, file), events))  # noqa: B023
                print(
                    f"round {number + 1}: one transaction each {plain_rates[-1]:,.0f}/s, ikkai {our_rates[-1]:,.0f}/s",
                    file=sys.stderr,
                )
    ratio = statistics.median(ours / theirs for ours, theirs in zip(our_rates, plain_rates, strict=True))
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows: list[tuple[str, Any, Any]] = [
        ("one transaction per event, events/s", f"{statistics.median(plain_rates):,.0f}", ""),
        (f"ikkai, {events:,} events imported and applied, events/s", f"{statistics.median(our_rates):,.0f}", ""),
        ("ratio", f"{ratio:.1f}", f">= {TARGET_RATIO}"),
        ("peak memory of this process, MB", f"{megabytes:.0f}", f"<= {TARGET_MEGABYTES}"),
    ]
    for what, reached, target in rows:
        print(f"{what:<62} {reached:>10}  {target}")


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


if __name__ == "__main__":
    typer.run(main)
