"""What commands print: one JSON document, or tables for people; complaints on stderr."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

FAILED: Final = 1  # something failed or was refused
INVALID: Final = 2  # usage or input, nothing stored
WAITING: Final = 3  # done, but something waits for a person

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def print_json(document: Any) -> None:
    """One document on stdout; times in ISO 8601."""
    print(json.dumps(document, ensure_ascii=False, indent=2, default=_plain))


def print_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, empty: str) -> None:
    """Rows for people, or the sentence that says there are none."""
    if not rows:
        print(empty)
        return
    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")  # a key that is cut cannot be copied
    for row in rows:
        table.add_row(*("" if row[column] is None else printable(str(row[column])) for column in columns))
    Console(markup=False, width=None if sys.stdout.isatty() else 160).print(table)


def printable(text: str) -> str:
    """Text that quotes a file, a message or another machine: nothing in it moves the cursor or colours the screen."""
    return "".join(one if one.isprintable() or one == "\n" else repr(one)[1:-1] for one in text)


def complain(message: str, *, as_json: bool, field: str | None = None) -> None:
    """What went wrong: for people on stderr, for programs as the one document."""
    if as_json:
        print_json({"error": message, "field": field})
    else:
        print(f"ikkai: {printable(message)}", file=sys.stderr)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value)
