"""CSV as spreadsheets write it: every row is read or named, none vanishes."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.files.csv_rows import MAX_ROW_CHARACTERS
from domain.errors import Malformed
from tests.adapters.files.sheets import bad, good, read, reason


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(end: str, last: bool) -> None:
    """Rows end with LF, CRLF or CR, the last one perhaps with the file."""
    records = read(end.join(["id,name,day", "1,a,3", "", "2,b,"]) + (end if last else ""))
    assert [(record.line, record.members) for record in records] == [
        (2, {"id": "1", "name": "a", "day": 3}),
        (4, {"id": "2", "name": "b"}),
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separator_and_order_of_columns(separator: str) -> None:
    """The separator is found from the header, the columns may stand in any order."""
    records = read(separator.join(['"day"', "name", "id"]) + "\n" + separator.join(["5", '"a,;\tb"', "1"]))
    assert good(records) == [{"id": "1", "name": "a,;\tb", "day": 5}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_newline_in_a_cell(end: str) -> None:
    """A newline within quotes belongs to the cell; rows are numbered by the line they start on."""
    records = read(f'id,name{end}1,"a{end}{end}b ""c"""{end}2,d{end}')
    assert [(record.line, record.members) for record in records] == [
        (2, {"id": "1", "name": 'a\n\nb "c"'}),
        (5, {"id": "2", "name": "d"}),
    ]


def test_empty_cells_are_absent() -> None:
    """An empty cell, quoted or not, says nothing; where something must be said, the column is named."""
    assert good(read('id,name,day\n1,a,\n2,b,""\n')) == [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}]
    assert bad(read("id,name,day\n,a,\n1,,\n,,\n")) == [(2, "id"), (3, "name"), (4, "id")]


def test_blank_lines_before_the_header() -> None:
    """Blank lines anywhere are passed over, and counted."""
    records = read('\n  \nid,name\n \n1,a\n\n""\n')
    assert [record.line for record in records] == [5, 7]
    assert bad(records) == [(7, "name")]


def test_header_without_rows() -> None:
    """A header alone is a file of no rows."""
    assert read("id,name") == []


@pytest.mark.parametrize(
    ("header", "reason_"),
    [
        ("id,nmae,age", "has unknown columns ['nmae', 'age']; known are id, name, day"),
        ("id,name,", "has unknown columns ['']; known are id, name, day"),
        ("id, name", "has unknown columns [' name']; known are id, name, day"),
        ("ID,name", "has unknown columns ['ID']; known are id, name, day"),
        ("1,a", "has unknown columns ['1', 'a']; known are id, name, day"),
        ("day,name", "lacks the columns id"),
        ("day", "lacks the columns id, name"),
        ("id,name,id", "has id twice"),
        ('id,"name', "is not CSV: unexpected end of data"),
        ("id," + "x" * MAX_ROW_CHARACTERS, None),
        ("x" * 1000, "has unknown columns ['xxxxxxxxxxxx...xxxxxxxxxxxxx']; known are id, name, day"),
        ("id\0,name", "has unknown columns ['id\\x00']; known are id, name, day"),
    ],
)
def test_wrong_header(header: str, reason_: str | None) -> None:
    """A file whose header is not right is refused as a whole, saying what is wrong with it."""
    with pytest.raises(Malformed) as refusal:
        read(header + "\n1,a\n", format="csv")
    assert refusal.value.field == "header"
    assert reason_ is None or refusal.value.reason == reason_


def test_header_once_more() -> None:
    """Files that were joined: the second header is a rejected row, with or without its byte order mark."""
    records = read("\ufeffid,name\n1,a\nid,name\n2,b\n\ufeffid,name\n\ufeff3,c\n")
    assert bad(records) == [(3, "header"), (5, "header")]
    assert [row["id"] for row in good(records)] == ["1", "2", "3"]


def test_ragged_rows() -> None:
    """A row of too few or too many cells is rejected, naming where it goes wrong."""
    records = read("id,name,day\n1\n1,a\n1,a,3,4\n1,a,3\n")
    assert bad(records) == [(2, "name"), (3, "day"), (4, "day")]
    assert reason(records[0]) == "is missing: the row has 1 of 3 cells"
    assert reason(records[2]) == "is not the last: the row has 4 cells instead of 3"
    assert len(good(records)) == 1


@pytest.mark.parametrize(
    "cell", ["1e3", "１２", "1_000", "12.0", " 12", "12 ", "+1", "-1", "0x1", "abc", "1,000", "²", "9" * 20]
)
def test_whole_numbers(cell: str) -> None:
    """Only plain digits are a whole number; what would have to be guessed at is rejected by column."""
    records = read(f'id,name,day\n1,a,"{cell}"\n2,b,012\n')
    assert bad(records) == [(2, "day")]
    assert good(records) == [{"id": "2", "name": "b", "day": 12}]


def test_nul() -> None:
    """A NUL makes its row bad, by column, and nothing else."""
    records = read("id,name\n1,a\0b\n\0,b\n3,c\n")
    assert bad(records) == [(2, "name"), (3, "id")]
    assert good(records) == [{"id": "3", "name": "c"}]


def test_text_after_a_quoted_cell() -> None:
    """A broken quote costs its own row; all others are read."""
    records = read('id,name\n1,"a"b\n2,"c"\n3,d\n')
    assert bad(records) == [(2, "record")]
    assert reason(records[0]).startswith("is not CSV: ")
    assert [row["id"] for row in good(records)] == ["2", "3"]


def test_quote_never_closed() -> None:
    """A quote that nothing closes costs its own row, though CSV would make all others part of it."""
    records = read('id,name\n1,"a\n2,b\n3,c')
    assert bad(records) == [(2, "record")]
    assert [(record.line, record.members) for record in records[1:]] == [
        (3, {"id": "2", "name": "b"}),
        (4, {"id": "3", "name": "c"}),
    ]


def test_quote_closed_by_that_of_a_later_row() -> None:
    """A quote that a later row's seems to close costs its own row: the later one is read as it is."""
    records = read('id,name\n"1,a\n2,b\n"3","c"\n4,"d"\n')
    assert bad(records) == [(2, "record")]
    assert [(record.line, record.members) for record in records if record.line > 2] == [
        (3, {"id": "2", "name": "b"}),
        (4, {"id": "3", "name": "c"}),
        (5, {"id": "4", "name": "d"}),
    ]


def test_quote_never_closed_in_a_large_file() -> None:
    """However much follows a quote that nothing closes, only its own row is lost."""
    rows = MAX_ROW_CHARACTERS // 2
    records = read('id,name\n1,a\n2,"b\n' + "3,c\n" * rows)
    assert bad(records) == [(3, "record")]
    assert reason(records[1]) == "is not CSV: a quote is never closed"
    assert [record.line for record in records] == list(range(2, rows + 4))


def test_quotes_far_apart() -> None:
    """Where quotes leave open whether lines are rows or one huge cell, none is stored, and the lines are named."""
    filler = "3,c\n" * MAX_ROW_CHARACTERS
    records = read(f'id,name\n2,"b\n{filler}4,"d\n5,e\n')
    last = MAX_ROW_CHARACTERS + 3
    assert bad(records) == [(2, "record")]
    assert reason(records[0]) == f"has more than 65536 characters, up to line {last}; is a quote missing?"
    assert [(record.line, record.members) for record in records[1:]] == [(last + 1, {"id": "5", "name": "e"})]


def test_rows_inside_a_huge_cell_are_no_rows() -> None:
    """Whoever has a name too long to be read cannot write rows of his own with it."""
    forged = "\n9,forged" * MAX_ROW_CHARACTERS
    records = read(f'id,name\n1,"a ""quoted""{forged}"\n2,b\n')
    assert bad(records) == [(2, "record")]
    assert good(records) == [{"id": "2", "name": "b"}]


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("size", [MAX_ROW_CHARACTERS, csv.field_size_limit() + 1, 3_000_000])
def test_huge_cell(quote: str, size: int) -> None:
    """A huge cell is a bad row; the import goes on, and lines are counted rightly."""
    records = read(f"id,name\n1,a\n2,{quote}{'x' * size}{quote}\r\n3,c\r\n4,{quote}{'x' * size}{quote}")
    assert bad(records) == [(3, "record"), (5, "record")]
    assert [(record.line, record.members) for record in records if record.line == 4] == [(4, {"id": "3", "name": "c"})]


def test_huge_row_of_many_cells() -> None:
    """A row of endlessly many small cells is held no longer than another."""
    records = read("id,name\n1," + "a," * MAX_ROW_CHARACTERS + "\n2,b\n")
    assert bad(records) == [(2, "record")]
    assert good(records) == [{"id": "2", "name": "b"}]


def test_longest_row() -> None:
    """A row of exactly the limit is read."""
    records = read("id,name\n1," + "x" * (MAX_ROW_CHARACTERS - 3) + "\n2,b")
    assert len(good(records)) == 2


CELL = st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    rows=st.lists(st.tuples(CELL, CELL), max_size=8),
    separator=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_whatever_was_written_is_read(rows: list[tuple[str, str]], separator: str, end: str, encoding: str) -> None:
    """Any cells, written by the rules of CSV in any dialect and encoding, come back as they were."""
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet, delimiter=separator, lineterminator="\r\n")
    writer.writerow(["id", "name"])
    writer.writerows(rows)
    records = read(sheet.getvalue().replace("\r\n", end).encode(encoding), format="csv")
    expected = [{"id": id_, "name": name} for id_, name in rows if (id_, name) != ("id", "name")]
    assert good(records) == expected
    assert len(records) == len(rows)


@given(content=st.binary(max_size=200))
def test_garbage_never_crashes(content: bytes) -> None:
    """Any bytes under a header are rows, bad rows, or a refusal of the file."""
    for head in (b"id,name\n", b"\xff\xfei\0d\0,\0n\0a\0m\0e\0\n\0", b"{}\n", b""):
        try:
            lines = [record.line for record in read(head + content)]
        except Malformed:
            continue
        assert lines == sorted(set(lines))
