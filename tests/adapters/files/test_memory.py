"""Memory does not grow with the file, whatever it holds and wherever it comes from."""

import io
import tracemalloc
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO, Final

import pytest

from adapters.files.order_events import envelopes
from domain.errors import Malformed

ROWS: Final = 300_000
PEAK_BYTES: Final = 30_000_000  # the rows held all at once would take ten times as much


def sheet() -> Iterator[bytes]:
    """Orders as CSV."""
    yield b"order_id,customer_id,total,currency,points,time,revision\n"
    for number in range(ROWS):
        yield b"o-%d,c-%d,12000,JPY,120,2026-10-03T12:34:56+09:00,1\n" % (number, number % 1000)


def events() -> Iterator[bytes]:
    """Orders as NDJSON."""
    for number in range(ROWS):
        yield (
            b'{"specversion":"1.0","source":"shop","id":"e-%d","type":"order.cancelled",'
            b'"time":"2026-10-03T12:34:56+09:00","data":{"order_id":"o-%d"}}\n' % (number, number)
        )


class Pipe(io.RawIOBase):
    """Bytes that come one after the other and cannot be read again."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._rest or next(self._chunks, b"")
        length = min(len(chunk), len(buffer))
        buffer[:length] = chunk[:length]
        self._rest = chunk[length:]
        return length


def stream_through(stream: BinaryIO) -> tuple[int, int]:
    """Reads to the end. Returns: how many good records there were, and the most bytes that were held at once."""
    tracemalloc.start()
    try:
        records = sum(isinstance(record.members, dict) for record in envelopes(stream))
        return records, tracemalloc.get_traced_memory()[1]
    except Malformed:
        return 0, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_file_of_many_rows(tmp_path: Path) -> None:
    """300,000 rows of a file are streamed in a few megabytes."""
    path = tmp_path / "orders.csv"
    with path.open("wb") as file:
        file.writelines(sheet())
    with path.open("rb") as stream:
        records, peak_bytes = stream_through(stream)
    assert records == ROWS
    assert peak_bytes < PEAK_BYTES


def test_pipe_of_many_rows() -> None:
    """So are 300,000 lines that come through a pipe."""
    with io.BufferedReader(Pipe(events())) as stream:
        records, peak_bytes = stream_through(stream)
    assert records == ROWS
    assert peak_bytes < PEAK_BYTES


@pytest.mark.parametrize(
    "head",
    [b"", b'{"id":"', b"[", b"order_id,customer_id,total,currency,time\no-1,", b'order_id,total\n"'],
)
def test_one_endless_line(head: bytes) -> None:
    """A line of 50 MB, whatever it begins with, is never held as a whole."""
    chunks = chain([head], repeat(b"x" * 8192 if head else b" " * 8192, 6400))
    with io.BufferedReader(Pipe(chunks)) as stream:
        records, peak_bytes = stream_through(stream)
    assert records == 0
    assert peak_bytes < PEAK_BYTES
