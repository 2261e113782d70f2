"""Order events from a file: CloudEvents as NDJSON, or confirmed orders as CSV."""

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from adapters.files.columns import Columns
from adapters.files.records import Format, Record, read_records
from domain.errors import Malformed
from domain.keys import MAX_IDENTIFIER_CHARACTERS, identifier
from domain.orders.events import EventType

CSV_SOURCE: Final = "csv"


def envelopes(
    stream: BinaryIO,
    *,
    format: Format = "auto",  # noqa: A002
    encoding: str | None = None,
) -> Iterator[Record]:
    """The CloudEvents envelopes of a file, to be checked by `read_event`; those of CSV rows are made here.

    Raises: Malformed, before the first record, when the file cannot be read as a whole.
    """
    return read_records(stream, format=format, encoding=encoding, columns=COLUMNS)


def _confirmed(row: dict[str, Any]) -> dict[str, Any]:
    """Key: source `csv`, id `<order_id>#<revision>`, so that a file imported twice tells nothing new."""
    order_id = identifier("order_id", row["order_id"])
    event_id = f"{order_id}#{row.get('revision', 1)}"
    if len(event_id) > MAX_IDENTIFIER_CHARACTERS:
        reason = f"is too long: with #revision, it must have at most {MAX_IDENTIFIER_CHARACTERS} characters"
        raise Malformed("order_id", reason)
    return {
        "specversion": "1.0",
        "source": CSV_SOURCE,
        "id": event_id,
        "type": EventType.ORDER_CONFIRMED.value,
        "time": row.pop("time"),
        "data": row,
    }


COLUMNS: Final = Columns(
    required=("order_id", "customer_id", "total", "currency", "time"),
    optional=("points", "revision"),
    whole_numbers=("total", "points", "revision"),
    shape=_confirmed,
)
