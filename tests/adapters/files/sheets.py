"""Sheets for the tests: a file's bytes, read to the end."""

from io import BytesIO
from typing import Any, Final

from adapters.files.columns import Columns
from adapters.files.records import Format, Record, read_records
from domain.errors import Malformed

NAMES: Final = Columns(required=("id", "name"), optional=("day",), whole_numbers=("day",))


def read(
    content: bytes | str,
    *,
    format: Format = "auto",  # noqa: A002
    encoding: str | None = None,
    columns: Columns = NAMES,
) -> list[Record]:
    """Every record of a file with this content; text is UTF-8."""
    stream = BytesIO(content.encode() if isinstance(content, str) else content)
    return list(read_records(stream, format=format, encoding=encoding, columns=columns))


def good(records: list[Record]) -> list[dict[str, Any]]:
    """What the good records say."""
    return [record.members for record in records if isinstance(record.members, dict)]


def bad(records: list[Record]) -> list[tuple[int, str]]:
    """Line and field of each bad record."""
    return [(record.line, record.members.field) for record in records if isinstance(record.members, Malformed)]


def reason(record: Record) -> str:
    """Why a record is bad."""
    assert isinstance(record.members, Malformed)
    return record.members.reason
