"""`ikkai customers`: customers from files."""

from typing import Final

import typer

from domain.errors import Malformed
from entrypoints.cli.files import Encoding, File, Format, ImportReport, in_sets, opened
from entrypoints.cli.output import AsJson
from entrypoints.container import open_container
from entrypoints.settings import read_settings

commands: Final = typer.Typer(help="Customers: in from files.")

SET_CUSTOMERS: Final = 1000


@commands.callback()
def _group() -> None:
    """Customers: in from files."""


@commands.command(name="import")
def import_(file: File, format_: Format = "auto", encoding: Encoding = None, as_json: AsJson = False) -> None:
    """Stores customers (CSV or NDJSON); importing again updates. Example: ikkai customers import customers.csv"""
    report = ImportReport()
    with open_container(read_settings(), broker=False) as container, opened(file) as stream:
        records = container.read_customers(stream, format=format_, encoding=encoding)
        for lines, rows in in_sets(records, SET_CUSTOMERS, file):
            for line, outcome in zip(lines, container.update_customers().execute(rows), strict=True):
                if isinstance(outcome, Malformed):
                    report.rejected.append({"line": line, "field": outcome.field, "reason": outcome.reason})
                elif outcome:
                    report.accepted += 1
                else:
                    report.duplicates += 1
    report.finish(as_json=as_json)
