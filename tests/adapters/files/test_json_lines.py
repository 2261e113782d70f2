"""NDJSON: each line stands for itself; a bad one is named and costs no other."""

import pytest

from adapters.files.json_lines import MAX_LINE_CHARACTERS
from tests.adapters.files.sheets import bad, good, read, reason

OBJECT = '{"id":"1"}'


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    """Lines end as on any system, the last one perhaps not at all; blank ones are passed over but counted."""
    records = read(end.join([OBJECT, "", "  ", '{"id":"2"}', "\ufeff" + '{"id":"3"}']))
    assert [(record.line, record.members) for record in records] == [
        (1, {"id": "1"}),
        (4, {"id": "2"}),
        (5, {"id": "3"}),
    ]


def test_other_separators_end_no_line() -> None:
    """Only CR and LF end a line: a line separator or form feed inside a string is part of it."""
    text = "a\u2028b\u2029c\u0085d"
    assert good(read(f'{{"id":"{text}"}}\n{OBJECT}')) == [{"id": text}, {"id": "1"}]


@pytest.mark.parametrize(
    "line",
    [
        '{"id":',
        "{id:1}",
        "[1]",
        "5",
        '"text"',
        "null",
        OBJECT + OBJECT,
        '{"id":"a\0b"}',
        '{"id":' + "9" * 5000 + "}",
        '{"id":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_bad_line(line: str) -> None:
    """What is not one JSON object is a bad record with its line; the lines around it are read."""
    records = read(f"{OBJECT}\n{line}\n{OBJECT}\n")
    assert bad(records) == [(2, "record")]
    assert [record.line for record in records] == [1, 2, 3]


def test_member_that_stands_twice() -> None:
    """JSON that says one thing twice is refused by the name of the member."""
    assert bad(read('{"id":1,"id":2}\n')) == [(1, "id")]
    assert bad(read('{"id":NaN}\n')) == [(1, "NaN")]


@pytest.mark.parametrize("end", ["", "\n"])
def test_longest_line(end: str) -> None:
    """A line of exactly the limit is read, with or without its end."""
    line = '{"id":"' + "x" * (MAX_LINE_CHARACTERS - 9) + '"}'
    assert len(line) == MAX_LINE_CHARACTERS
    assert len(good(read(line + end))) == 1


@pytest.mark.parametrize("more", [1, 2, 3_000_000])
def test_line_too_long(more: int) -> None:
    """A line over the limit is a bad record; lines after it are read and counted rightly."""
    line = '{"id":"' + "x" * (MAX_LINE_CHARACTERS - 9 + more) + '"}'
    records = read(f"{OBJECT}\r\n{line}\r\n{OBJECT}\r\n{line}")
    assert bad(records) == [(2, "record"), (4, "record")]
    assert reason(records[1]) == "has more than 1048576 characters"
    assert [record.line for record in records] == [1, 2, 3, 4]


def test_strings_are_left_to_the_rules() -> None:
    """Escaped NUL and lone surrogates are valid JSON: they arrive, for the domain to refuse them by field."""
    assert good(read('{"id":"a\\u0000","name":"\\ud800"}')) == [{"id": "a\0", "name": "\ud800"}]
