"""CSV: rows under a header, in the dialects that spreadsheets write."""

import csv
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from adapters.files.columns import Columns
from adapters.files.text_file import TextFile
from domain.errors import Malformed

SEPARATORS: Final = ",;\t"
MAX_ROW_CHARACTERS: Final = 64 * 1024  # half of what the csv module allows one cell, so that its limit is never met


def csv_rows(file: TextFile, columns: Columns) -> Iterator[tuple[int, dict[str, Any] | Malformed]]:
    """Each row's members with the number of the line it starts on, or what is wrong with it.

    Raises: Malformed, before the first row, for a header that is not right.
    """
    rows = _Rows(file)
    header = rows.read()
    if header is None:
        raise Malformed("file", "is empty")
    if isinstance(header, Malformed):
        raise Malformed("header", header.reason)
    columns.check_header(header)
    while (cells := rows.read()) is not None:
        if isinstance(cells, Malformed):
            yield rows.line, cells
            continue
        try:
            members: dict[str, Any] | Malformed = columns.members(header, cells)
        except Malformed as wrong:
            members = wrong
        yield rows.line, members


class _RowTooLong(Exception):
    """More characters were taken for one row than a row may have."""


class _Rows:
    """The rows as the csv module sees them. One that is broken costs itself alone: reading goes on at its next line."""

    def __init__(self, file: TextFile) -> None:
        self.line = 1
        self._file = file
        self._lines_read = 0
        self._row: list[str] = []
        self._characters = 0
        self._again: deque[str] = deque()
        self._reader = csv.reader(self, delimiter=self._separator(), strict=True)

    def read(self) -> list[str] | Malformed | None:
        """The cells of the next row that is not blank, or why it has none; nothing at the end of the file."""
        while True:
            self.line = self._lines_read + 1
            self._row.clear()
            self._characters = 0
            try:
                cells = next(self._reader, None)
            except csv.Error as wrong:
                self._read_again_after_first_line()
                return Malformed("record", f"is not CSV: {wrong}")
            except _RowTooLong:
                return self._pass_over()
            if cells is None or len(cells) > 1 or "".join(self._row).strip():
                return cells

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """The next line for the csv module, remembered in case that the row proves to be broken."""
        line = self._next_line()
        if not line:
            raise StopIteration
        if not self._row:
            line = line.removeprefix("\ufeff")  # files that were joined have one in the middle
        self._row.append(line)
        self._characters += len(line)
        if self._characters > MAX_ROW_CHARACTERS:
            raise _RowTooLong
        return line

    def _next_line(self) -> str:
        line = self._again.popleft() if self._again else self._file.read_line(MAX_ROW_CHARACTERS + 1)
        self._lines_read += line.endswith("\n")
        return line

    def _separator(self) -> str:
        """The one that the header uses most; names of columns have none in them."""
        header = self._next_line()
        while header and not header.strip():
            header = self._next_line()
        self._again.append(header)
        self._lines_read -= header.endswith("\n")
        return max(SEPARATORS, key=header.count)

    def _read_again_after_first_line(self) -> None:
        """Gives the broken row's other lines out again, though the end of the file may have been reached in it."""
        self._again.extendleft(reversed(self._row[1:]))
        self._lines_read = self.line

    def _pass_over(self) -> Malformed:
        """Goes to the end of a row too long to be held, its quotes being counted: within them, nothing is a row.

        Otherwise somebody whose name is long enough could write rows of his own into it.
        """
        part = self._row[-1]
        quotes = sum(line.count('"') for line in self._row)
        while part and not (part.endswith("\n") and quotes % 2 == 0):
            part = self._next_line()
            quotes += part.count('"')
        if quotes % 2:  # not a long cell, then, but a stray quote
            self._again.clear()
            self._file.go_back(self.line)
            self._lines_read = self.line
            return Malformed("record", "is not CSV: a quote is never closed")
        reason = f"has more than {MAX_ROW_CHARACTERS} characters, up to line {self._lines_read}; is a quote missing?"
        return Malformed("record", reason)
