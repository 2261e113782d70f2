"""Which format a file has, and where it comes from, is found out without losing a row of it."""

import io
import os
import threading

import pytest

from adapters.files.records import MAX_SPOOLED_BYTES, Format, read_records
from domain.errors import Malformed
from tests.adapters.files.sheets import NAMES, bad, good, read

OBJECT = '{"id":"1","name":"a"}'


@pytest.mark.parametrize("blank", ["", "\ufeff", "\n", " \r\n\r\n", "\t\n"])
def test_format_is_found(blank: str) -> None:
    """A file that begins with a brace is NDJSON, any other CSV, whatever blank there is before."""
    for content in (OBJECT, "id,name\n1,a"):
        assert good(read(blank + content)) == [{"id": "1", "name": "a"}]


def test_format_that_was_named_holds() -> None:
    """A named format is not second-guessed."""
    assert good(read(OBJECT, format="ndjson")) == [{"id": "1", "name": "a"}]
    assert bad(read("id,name\n1,a\n", format="ndjson")) == [(1, "record"), (2, "record")]
    with pytest.raises(Malformed, match="header: is not CSV"):
        read(OBJECT, format="csv")


@pytest.mark.parametrize("format_", ["auto", "csv", "ndjson"])
@pytest.mark.parametrize("content", [b"", b" \r\n\t\n", b"\xef\xbb\xbf", b"\xff\xfe", "\u3000\n".encode()])
def test_empty_file(content: bytes, format_: Format) -> None:
    """A file with nothing in it is refused as empty, not imported as nothing."""
    with pytest.raises(Malformed, match="file: is empty"):
        read(content, format=format_)


@pytest.mark.parametrize("format_", ["auto", "ndjson"])
def test_json_array(format_: Format) -> None:
    """A JSON array is refused as a whole, saying that NDJSON is wanted."""
    with pytest.raises(Malformed, match="file: is a JSON array; NDJSON is wanted"):
        read(f" [\n{OBJECT}]", format=format_)


@pytest.mark.parametrize("rows", [1, MAX_SPOOLED_BYTES // 10])
def test_pipe(rows: int) -> None:
    """What comes through a pipe, which can be read only once, is read like a file, however long."""
    reading, writing = os.pipe()

    def write() -> None:
        with open(writing, "wb") as pipe:
            pipe.write(b"id,name\n" + b"1,abcdefgh\n" * rows)

    writer = threading.Thread(target=write)
    writer.start()
    with open(reading, "rb") as stream:
        records = list(read_records(stream, format="auto", encoding=None, columns=NAMES))
        assert not stream.closed
    writer.join()
    assert len(good(records)) == rows


def test_stream_stays_open() -> None:
    """The file is left open for its owner, at the end of reading and when reading is given up."""
    stream = io.BytesIO(b"id,name\n1,a\n2,b\n")
    records = read_records(stream, format="auto", encoding=None, columns=NAMES)
    next(records)
    records.close()  # type: ignore[attr-defined]
    assert len(list(read_records(stream, format="auto", encoding=None, columns=NAMES))) == 2
    assert not stream.closed


def test_owner_may_close_first() -> None:
    """An owner who closes the file while it is being read is not answered with a second failure."""
    stream = io.BytesIO(b"id,name\n1,a\n2,b\n")
    records = read_records(stream, format="auto", encoding=None, columns=NAMES)
    next(records)
    stream.close()
    records.close()  # type: ignore[attr-defined]
