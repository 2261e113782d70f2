"""`ikkai billing`: a month billed, once; `ikkai subscriptions` and `ikkai items`: what is billed, from files."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer

from application.billing import BillingReport, ImportItems, ImportSubscriptions, MonthStatus, Taken
from domain.billing.book import StoredBill
from domain.errors import Conflict, Malformed
from domain.operations import State
from entrypoints.cli.files import Encoding, File, Format, ImportReport, Record, in_sets, opened
from entrypoints.cli.output import FAILED, WAITING, AsJson, print_json, print_table
from entrypoints.container import open_container
from entrypoints.progress import progress
from entrypoints.settings import read_settings

commands: Final = typer.Typer(help="Monthly billing: every customer's month, once.")
subscriptions: Final = typer.Typer(help="Subscriptions: in from files.")
items: Final = typer.Typer(help="Items that are billed once: in from files.")

SET_ROWS: Final = 1000
SHOWN: Final = 20

MonthText = Annotated[str, typer.Argument(help="The month, such as 2026-10.", show_default=False)]


@commands.command()
def run(
    month: MonthText,
    customer: Annotated[list[str] | None, typer.Option(help="Only this customer; may be given again.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be billed.")] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait for the charges.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bills a month; what is billed already stays as it is. Exit 1: some failed or were declined, 3: some wait.

    Example: ikkai billing run 2026-10 --dry-run
    """
    with open_container(read_settings(), broker=False) as container, _bars() as progressed:
        runner, customers = container.billing_runner(), customer or []
        if dry_run:
            report = runner.preview(month, customers=customers, progressed=progressed)
        else:
            report = runner.run(month, customers=customers, wait=not no_wait, progressed=progressed)
    if as_json:
        print_json(_document(report))
    else:
        _print_report(report)
    for missing, count in report.missing.items():
        what = f"in {missing} there are {count} (or more) with something to pay and no bill"
        print(f"ikkai: {what}; run it: ikkai billing run {missing}", file=sys.stderr)
    if dry_run:
        raise typer.Exit(FAILED if report.failed else 0)
    tally = report.status.tally
    if report.failed or tally.declined:
        raise typer.Exit(FAILED)
    if tally.needs_confirmation:
        raise typer.Exit(WAITING)


@commands.command()
def status(month: MonthText, as_json: AsJson = False) -> None:
    """What became of a month's bills so far. Example: ikkai billing status 2026-10"""
    with open_container(read_settings(), broker=False) as container:
        found, digest = container.billing_runner().status(month), container.billing_runner().digest(month)
    if as_json:
        waiting = [bill_row(bill) for bill in found.waiting]
        print_json({"month": found.month, **_tally(found), "waiting": waiting, "digest": digest})
        return
    print(f"{found.month}: {_in_words(_tally(found))}; digest {digest[:12]}")
    _print_waiting(found.waiting)


@commands.command()
def retry(
    month: MonthText,
    customer: Annotated[str, typer.Option(help="Whose bill.", show_default=False)],
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait for the charge.")] = False,
    as_json: AsJson = False,
) -> None:
    """Charges a declined bill anew, with what the customer pays with now.

    Example: ikkai billing retry 2026-10 --customer c-42
    """
    with open_container(read_settings(), broker=False) as container:
        bill = container.billing_runner().retry(month, customer, wait=not no_wait)
    if as_json:
        print_json(bill_row(bill))
    else:
        print_table([bill_row(bill)], _COLUMNS, empty="")
    if bill.operation is not None and bill.operation.state in (State.REFUSED, State.PARKED):
        raise typer.Exit(FAILED)
    if bill.operation is not None and bill.operation.state is State.NEEDS_CONFIRMATION:
        raise typer.Exit(WAITING)


@subscriptions.callback()
def _subscriptions() -> None:
    """Subscriptions: in from files."""


@subscriptions.command(name="import")
def import_subscriptions(
    file: File, format_: Format = "auto", encoding: Encoding = None, as_json: AsJson = False
) -> None:
    """Stores subscriptions (CSV or NDJSON); a re-import may change their end.

    Example: ikkai subscriptions import subscriptions.csv
    """
    with open_container(read_settings(), broker=False) as container, opened(file) as stream:
        records = container.read_subscriptions(stream, format=format_, encoding=encoding)
        _import(records, file, container.import_subscriptions()).finish(as_json=as_json)


@items.callback()
def _items() -> None:
    """Items that are billed once: in from files."""


@items.command(name="import")
def import_items(file: File, format_: Format = "auto", encoding: Encoding = None, as_json: AsJson = False) -> None:
    """Stores items (CSV or NDJSON) for the next bill. Example: ikkai items import items.csv"""
    with open_container(read_settings(), broker=False) as container, opened(file) as stream:
        records = container.read_items(stream, format=format_, encoding=encoding)
        _import(records, file, container.import_items()).finish(as_json=as_json)


def _import(records: Iterator[Record], file: str, take: ImportSubscriptions | ImportItems) -> ImportReport:
    report = ImportReport()
    for lines, rows in in_sets(records, SET_ROWS, file):
        for line, outcome in zip(lines, take.execute(rows), strict=True):
            if isinstance(outcome, Conflict):
                report.conflicts.append({"line": line, "reason": outcome.reason})
            elif isinstance(outcome, Malformed):
                report.rejected.append({"line": line, "field": outcome.field, "reason": outcome.reason})
            elif outcome is Taken.ACCEPTED:
                report.accepted += 1
            else:
                report.duplicates += 1
    return report


@contextmanager
def _bars() -> Iterator[Any]:
    """One bar for the bills, then one for their charges."""
    with ExitStack() as open_bars:
        bars: dict[str, Any] = {}

        def progressed(stage: str, done: int, total: int | None) -> None:
            if stage not in bars:
                bars[stage] = open_bars.enter_context(progress(stage, total))
            bars[stage].to(done)

        yield progressed


def _document(report: BillingReport) -> dict[str, Any]:
    """Shape: that of `ikkai billing run --json`."""
    status, tally = report.status, report.status.tally
    document = {
        "month": status.month,
        "due": report.due,
        "created": report.created,
        "already": report.already,
        "charged": tally.charged,
        "declined": tally.declined,
        "needs_confirmation": tally.needs_confirmation,
        "failed": [asdict(failure) for failure in report.failed],
        "total": dict(report.totals),
    }
    return document if report.digest is None else {**document, "dry_run": True, "digest": report.digest}


def _print_report(report: BillingReport) -> None:
    if report.digest is not None:
        totals = ", ".join(f"{amount:,} {currency}" for currency, amount in sorted(report.totals.items()))
        print(f"{report.status.month}: {report.coming} to be billed, {report.already} already; ", end="")
        print(f"total of the month: {totals or 'nothing'}; digest {report.digest[:12]}")
    else:
        print(f"{report.status.month}: due {report.due}, created {report.created}, already {report.already}; ", end="")
        print(_in_words(_tally(report.status)))
    failed = [asdict(failure) for failure in report.failed]
    if failed:
        print_table(failed[:SHOWN], ("customer_id", "reason"), empty="")
    if report.digest is None:
        _print_waiting(report.status.waiting)


def _tally(status: MonthStatus) -> dict[str, Any]:
    counts = asdict(status.tally)
    return {"total": counts.pop("totals"), **counts}


def _in_words(tally: Mapping[str, Any]) -> str:
    counts = [f"{name.replace('_', ' ')} {count}" for name, count in tally.items() if name != "total" and count]
    totals = ", ".join(f"{amount:,} {currency}" for currency, amount in tally["total"].items())
    return "; ".join(filter(None, (", ".join(counts), totals and f"in all {totals}"))) or "nothing"


_COLUMNS: Final = ("customer_id", "number", "total", "currency", "state", "key", "reason")


def bill_row(bill: StoredBill) -> dict[str, Any]:
    """A bill as a line of a list."""
    operation = bill.operation
    return {
        "customer_id": bill.customer_id,
        "month": bill.month,
        "number": bill.number,
        "total": bill.total,
        "currency": bill.currency,
        "state": bill.settlement if operation is None else operation.state,
        "key": None if operation is None else operation.key,
        "reason": None if operation is None else operation.reason,
    }


def _print_waiting(bills: Sequence[StoredBill]) -> None:
    """Declined ones, those that wait for a person or were put off; not those that are just on their way."""
    shown = [bill for bill in bills if bill.operation is not None and bill.operation.epoch > 0]
    if shown:
        print_table([bill_row(bill) for bill in shown[:SHOWN]], _COLUMNS, empty="")
    if len(shown) > SHOWN:
        print(f"… and {len(shown) - SHOWN} more: ikkai billing status --json")
