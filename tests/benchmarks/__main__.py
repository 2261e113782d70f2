"""`make bench`: what ikkai reaches, beside the bare limit or the plain way, in turn in one run."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from tests.benchmarks.billing import measure_billing
from tests.benchmarks.events import measure_events

Row = tuple[str, Any, Any]


def main(
    events: Annotated[int, typer.Option(help="Events per round of ours.")] = 100_000,
    plain_events: Annotated[int, typer.Option(help="Events per round of one transaction each.")] = 3_000,
    rounds: Annotated[int, typer.Option(help="Rounds of both, in turn.")] = 3,
    customers: Annotated[int, typer.Option(help="Customers billed.")] = 100_000,
    charges: Annotated[int, typer.Option(help="Bills charged per round.")] = 5_000,
) -> None:
    """Prints medians and ratios beside their targets; a figure below its target is said, not hidden."""
    # Billing first: the memory that is told is the most that this process has ever had.
    rows = [*_billing(customers, charges), *_events(events, plain_events, rounds)]
    for what, reached, target in rows:
        print(f"{what:<72} {reached:>10}  {target}")


def _billing(customers: int, charges: int) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="ikkai-bench-") as folder:
        figures = measure_billing(Path(folder), customers=customers, charges=charges)
    return [
        ("bills created by bare SQL, sets of 1,000, bills/s", f"{figures.bare_created:,.0f}", ""),
        (f"bills of {customers:,} customers created, bills/s", f"{figures.created:,.0f}", ""),
        ("ratio", f"{figures.created / figures.bare_created:.2f}", "0.75 is the aim"),
        ("the same month run again, customers/s", f"{figures.created_again:,.0f}", ""),
        ("ratio to the first run", f"{figures.created_again / figures.created:.1f}", ">= 3"),
        ("peak memory of the process that bills, MB", f"{figures.megabytes:.0f}", "<= 300"),
        ("charges by a bare client, 200 in flight, 50 ms each, charges/s", f"{figures.bare_charged:,.0f}", ""),
        (f"{charges:,} bills charged by one process, charges/s", f"{figures.charged:,.0f}", ""),
        ("ratio", f"{figures.charged / figures.bare_charged:.2f}", "0.75 is the aim"),
    ]


def _events(events: int, plain_events: int, rounds: int) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="ikkai-bench-") as folder:
        figures = measure_events(Path(folder), events=events, plain_events=plain_events, rounds=rounds)
    return [
        ("one transaction per event, events/s", f"{figures.plain:,.0f}", ""),
        (f"{events:,} events imported and applied by one process, events/s", f"{figures.ours:,.0f}", ""),
        ("ratio", f"{figures.ratio:.1f}", ">= 4"),
        ("peak memory of this process, MB", f"{figures.megabytes:.0f}", "<= 300"),
    ]


if __name__ == "__main__":
    typer.run(main)
