"""Import files as records: one per line of NDJSON or row of CSV, each with the line it starts on."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import starmap
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Final, Literal, cast

from adapters.files.columns import Columns
from adapters.files.csv_rows import csv_rows
from adapters.files.encodings import allowed_encodings, survey
from adapters.files.json_lines import json_objects
from adapters.files.text_file import TextFile
from domain.errors import Malformed

Format = Literal["auto", "ndjson", "csv"]
MAX_SPOOLED_BYTES: Final = 1024 * 1024  # a longer stream goes to disk


@dataclass(frozen=True, slots=True)
class Record:
    """One record as the file has it, or what is wrong with it. `line` is the physical line it starts on, from 1."""

    line: int
    members: dict[str, Any] | Malformed


def read_records(
    stream: BinaryIO,
    *,
    format: Format,  # noqa: A002
    encoding: str | None,
    columns: Columns,
) -> Iterator[Record]:
    """The records of a file, one by one. The first comes only when the whole file is known to decode.

    Shape: without a named encoding: by its byte order mark, else UTF-8 if valid, else cp932.
    Raises: Malformed, before the first record, when the file cannot be read as a whole.
    """
    allowed = allowed_encodings(encoding)
    with _rewindable(stream) as source:
        surveyed = survey(source, allowed)
        if not surveyed.first:
            raise Malformed("file", "is empty")
        if surveyed.first == "[" and format != "csv":
            raise Malformed("file", "is a JSON array; NDJSON is wanted, one object per line and no brackets around")
        is_json = surveyed.first == "{" if format == "auto" else format == "ndjson"
        with TextFile(source, surveyed.encoding) as file:
            yield from starmap(Record, json_objects(file) if is_json else csv_rows(file, columns))


@contextmanager
def _rewindable(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The stream itself, or a copy of one that can be read only once."""
    if stream.seekable():
        yield stream
        return
    with SpooledTemporaryFile(max_size=MAX_SPOOLED_BYTES) as spool:
        shutil.copyfileobj(stream, spool)
        yield cast(BinaryIO, spool)


@dataclass(frozen=True, slots=True)
class MembersFile:
    """Files of one kind whose records tell members: the columns of CSV, or the same as NDJSON."""

    columns: Columns

    def __call__(
        self,
        stream: BinaryIO,
        *,
        format: Format = "auto",  # noqa: A002
        encoding: str | None = None,
    ) -> Iterator[Record]:
        """The records, each only if it tells all that is required, and nothing that we would drop unread.

        Raises: Malformed, before the first record, when the file cannot be read as a whole.
        """
        for record in read_records(stream, format=format, encoding=encoding, columns=self.columns):
            try:
                if not isinstance(record.members, Malformed):
                    self.columns.check_members(record.members)
            except Malformed as wrong:
                yield Record(record.line, wrong)
            else:
                yield record
