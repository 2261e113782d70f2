"""A decoded file as physical lines: however long one is, only a bounded part of it is held."""

import io
from types import TracebackType
from typing import BinaryIO, Final, Self

from adapters.files.encodings import Encoding, skip_mark
from domain.errors import Malformed

_PART_CHARACTERS: Final = 64 * 1024


class TextFile:
    """A file that is known to decode; CR, LF and CRLF all end a line and are read as LF. Leaves `stream` open."""

    def __init__(self, stream: BinaryIO, encoding: Encoding) -> None:
        self._stream = stream
        self._encoding = encoding
        self._text = self._from_start()

    def read_line(self, limit_characters: int) -> str:
        """The next line with its end, or as much of it as the limit allows; nothing at the end of the file."""
        try:
            return self._text.readline(limit_characters)
        except UnicodeDecodeError:
            raise Malformed("file", "was changed while it was read") from None

    def skip_line(self) -> None:
        """Goes to the end of the line."""
        while (part := self.read_line(_PART_CHARACTERS)) and not part.endswith("\n"):
            pass

    def go_back(self, lines: int) -> None:
        """Reading goes on after the first `lines` lines."""
        self._text.detach()
        self._text = self._from_start()
        for _ in range(lines):
            self.skip_line()

    def _from_start(self) -> io.TextIOWrapper:
        skip_mark(self._stream, self._encoding)
        return io.TextIOWrapper(self._stream, encoding=self._encoding.codec, newline=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Else the stream would be closed together with its wrapper; its owner may have done so already.
        if not self._stream.closed:
            self._text.detach()
