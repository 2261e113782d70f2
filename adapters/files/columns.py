"""What a kind of import file may tell: the columns of its CSV form, which are the members of its NDJSON form."""

import re
import reprlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from domain.errors import Malformed

# 19 digits hold every 64-bit number. No space, point, exponent, or digits of other scripts: all of them are
# read by `int` or `float`, and each would let 1e3 or １２ pass for what it may not have meant.
_WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_SIGNED_NUMBER: Final = re.compile(r"-?[0-9]{1,19}")


def _as_it_is(row: dict[str, Any]) -> dict[str, Any]:
    return row


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one kind of file. `shape` makes of a CSV row what an NDJSON line would have said."""

    required: Sequence[str]
    optional: Sequence[str] = ()
    whole_numbers: Collection[str] = ()
    signed_numbers: Collection[str] = ()
    shape: Callable[[dict[str, Any]], dict[str, Any]] = _as_it_is

    def check_header(self, header: Sequence[str]) -> None:
        """Raises: Malformed unless it names known columns once each, and every required one."""
        known = self._known
        if unknown := [name for name in header if name not in known]:
            raise Malformed("header", f"has unknown columns {reprlib.repr(unknown)}; known are {', '.join(known)}")
        if len(set(header)) < len(header):
            raise Malformed("header", f"has {next(name for name in header if header.count(name) > 1)} twice")
        if missing := [name for name in self.required if name not in header]:
            raise Malformed("header", f"lacks the columns {', '.join(missing)}")

    def check_members(self, members: Mapping[str, Any]) -> None:
        """Raises: Malformed naming a member that is not known, or a required one that is missing."""
        known = self._known
        for name in members:
            if name not in known:
                raise Malformed(_printable(name), f"is not known; known are {', '.join(known)}")
        self._check_required(members)

    def members(self, header: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
        """What a CSV row says; an empty cell says nothing. Raises: Malformed naming the column that is wrong."""
        if cells == header:
            raise Malformed("header", "stands here once more")
        if len(cells) < len(header):
            raise Malformed(header[len(cells)], f"is missing: the row has {len(cells)} of {len(header)} cells")
        if len(cells) > len(header):
            raise Malformed(header[-1], f"is not the last: the row has {len(cells)} cells instead of {len(header)}")
        if "\0" in "".join(cells):
            column = next(name for name, cell in zip(header, cells, strict=True) if "\0" in cell)
            raise Malformed(column, "has a forbidden character U+0000")
        row: dict[str, Any] = {name: cell for name, cell in zip(header, cells, strict=True) if cell}
        for names, pattern in ((self.whole_numbers, _WHOLE_NUMBER), (self.signed_numbers, _SIGNED_NUMBER)):
            for name in names:
                if name in row:
                    row[name] = _whole_number(name, row[name], pattern)
        self._check_required(row)
        return self.shape(row)

    def _check_required(self, members: Mapping[str, Any]) -> None:
        for name in self.required:
            if name not in members:
                raise Malformed(name, "is required")

    @property
    def _known(self) -> Sequence[str]:
        return (*self.required, *self.optional)


def _printable(name: str) -> str:
    """A name from a foreign file, short and without what no terminal or log can show."""
    return reprlib.repr(name)[1:-1]


def _whole_number(column: str, cell: str, pattern: re.Pattern[str]) -> int:
    if not pattern.fullmatch(cell):
        raise Malformed(column, f"must be a whole number of at most 19 plain digits, not {reprlib.repr(cell)}")
    return int(cell)
