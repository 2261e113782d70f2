"""Subscriptions and items from a file: CSV, or the same members as NDJSON."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from adapters.files.columns import Columns
from adapters.files.records import Format, Record, checked, read_records

SUBSCRIPTIONS: Final = Columns(
    required=("subscription_id", "customer_id", "plan", "price", "currency", "tax_rate", "tax_included", "start"),
    optional=("end",),
    whole_numbers=("price",),
)
ITEMS: Final = Columns(
    required=("item_id", "customer_id", "date", "description", "amount", "currency", "tax_rate", "tax_included"),
    signed_numbers=("amount",),
)


def subscriptions(
    stream: BinaryIO,
    *,
    format: Format = "auto",  # noqa: A002
    encoding: str | None = None,
) -> Iterator[Record]:
    """What a file tells of subscriptions: the members for `read_subscription`.

    Raises: Malformed, before the first record, when the file cannot be read as a whole.
    """
    return checked(read_records(stream, format=format, encoding=encoding, columns=SUBSCRIPTIONS), SUBSCRIPTIONS)


def items(
    stream: BinaryIO,
    *,
    format: Format = "auto",  # noqa: A002
    encoding: str | None = None,
) -> Iterator[Record]:
    """What a file tells of items: the members for `read_item`.

    Raises: Malformed, before the first record, when the file cannot be read as a whole.
    """
    return checked(read_records(stream, format=format, encoding=encoding, columns=ITEMS), ITEMS)
