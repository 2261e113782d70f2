"""Customers from a file: CSV, or the same members as NDJSON."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from adapters.files.columns import Columns
from adapters.files.records import Format, Record, checked, read_records

COLUMNS: Final = Columns(
    required=("customer_id",),
    optional=("email", "name", "locale", "payment_method", "payment_customer", "closing_day"),
    whole_numbers=("closing_day",),
)


def customers(
    stream: BinaryIO,
    *,
    format: Format = "auto",  # noqa: A002
    encoding: str | None = None,
) -> Iterator[Record]:
    """What a file tells of customers: `customer_id` and the members for `customer_fields`; an empty cell tells nothing.

    Raises: Malformed, before the first record, when the file cannot be read as a whole.
    """
    return checked(read_records(stream, format=format, encoding=encoding, columns=COLUMNS), COLUMNS)
