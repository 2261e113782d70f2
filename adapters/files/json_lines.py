"""NDJSON: one JSON object per line."""

from collections.abc import Iterator
from typing import Any, Final

from adapters.files.text_file import TextFile
from domain.errors import Malformed
from domain.strict_json import read_json

MAX_LINE_CHARACTERS: Final = 1024 * 1024  # an event is about 500; what is longer is no event but another kind of file


def json_objects(file: TextFile) -> Iterator[tuple[int, dict[str, Any] | Malformed]]:
    """Each object with the number of its line, or why there is none; blank lines are passed over."""
    number = 0
    while line := file.read_line(MAX_LINE_CHARACTERS + 1):
        number += 1
        if len(line) > MAX_LINE_CHARACTERS and not line.endswith("\n"):
            file.skip_line()
            yield number, Malformed("record", f"has more than {MAX_LINE_CHARACTERS} characters")
        elif line.strip():
            yield number, _object(line)


def _object(line: str) -> dict[str, Any] | Malformed:
    try:
        document = read_json(line, field="record")
    except Malformed as wrong:
        return wrong
    return document if isinstance(document, dict) else Malformed("record", "must be a JSON object")
