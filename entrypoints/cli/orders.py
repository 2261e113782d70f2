"""`ikkai events`: order events from files, and events to look at."""

from typing import Annotated, Final

import typer

from application.orders import BATCH_EVENTS
from entrypoints.cli.files import Encoding, File, Format, ImportReport, in_sets, opened
from entrypoints.cli.output import AsJson, print_json, print_table
from entrypoints.container import open_container
from entrypoints.settings import read_settings

commands: Final = typer.Typer(help="Order events: in from files, and what became of them.")


@commands.command(name="import")
def import_(file: File, format_: Format = "auto", encoding: Encoding = None, as_json: AsJson = False) -> None:
    """Stores order events (NDJSON, or CSV of confirmed orders); the good rows of a file are stored.

    Example: ikkai events import orders.csv --encoding cp932
    """
    report = ImportReport()
    with open_container(read_settings(), broker=False) as container, opened(file) as stream:
        records = container.read_order_events(stream, format=format_, encoding=encoding)
        for lines, envelopes in in_sets(records, BATCH_EVENTS, file):
            receipt = container.accept_order_events().execute(envelopes)
            report.accepted += receipt.accepted
            report.duplicates += receipt.duplicates
            report.conflicts += [
                {"line": lines[conflict.index], "reason": conflict.reason} for conflict in receipt.conflicts
            ]
            report.rejected += [
                {"line": lines[rejection.index], "field": rejection.field, "reason": rejection.reason}
                for rejection in receipt.rejected
            ]
    report.finish(as_json=as_json)


@commands.command(name="list")
def list_(
    state: Annotated[str | None, typer.Option(help="Only events in this state.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only events of this order or customer.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
    as_json: AsJson = False,
) -> None:
    """Events and what became of each, the newest first. Example: ikkai events list --state conflict"""
    with open_container(read_settings(), broker=False) as container:
        rows = [dict(row) for row in container.read_orders().events(state=state, subject=subject, limit=limit)]
    if as_json:
        print_json(rows)
    else:
        print_table(
            rows, ("received_at", "source", "event_id", "type", "subject", "state", "reason"), empty="no events"
        )


@commands.command()
def retry(
    source: Annotated[str, typer.Argument(help="The event's source.", show_default=False)],
    event_id: Annotated[str, typer.Argument(help="The event's id.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Lets a parked event be applied again. Example: ikkai events retry shop e-1"""
    with open_container(read_settings(), broker=False) as container:
        container.retry_order_event().execute(source, event_id)
    if as_json:
        print_json({"source": source, "event_id": event_id, "state": "accepted"})
    else:
        print(f"{event_id} of {source}: accepted again")


@commands.command(name="dead-letters")
def dead_letters(limit: Annotated[int | None, typer.Option(min=1)] = None, as_json: AsJson = False) -> None:
    """Messages from the queue that no actor could take. Example: ikkai events dead-letters"""
    with open_container(read_settings(), broker=False) as container:
        rows = [dict(row) for row in container.read_dead_letters().execute(limit)]
    if as_json:
        print_json(rows)
    else:
        print_table(rows, ("received_at", "queue", "reason", "body"), empty="no dead letters")
