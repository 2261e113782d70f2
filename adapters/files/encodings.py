"""Which encoding a file is in, settled for the whole of it before its first row is read."""

import codecs
import io
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from domain.errors import Malformed

CHUNK_BYTES: Final = 64 * 1024  # larger ones are not faster
_BLANK: Final = string.whitespace + "\u3000\ufeff"


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding that a file may have. `codec` is Python's, and leaves a byte order mark alone."""

    name: str
    codec: str
    mark: bytes


UTF_8: Final = Encoding("UTF-8", "utf-8", codecs.BOM_UTF8)
UTF_16_LE: Final = Encoding("UTF-16LE", "utf-16-le", codecs.BOM_UTF16_LE)
UTF_16_BE: Final = Encoding("UTF-16BE", "utf-16-be", codecs.BOM_UTF16_BE)
CP932: Final = Encoding("cp932", "cp932", b"")

_MARKED: Final = (UTF_8, UTF_16_LE, UTF_16_BE)
_ASKED: Final[Mapping[str, Sequence[Encoding]]] = {
    "utf-8": (UTF_8,),
    "utf-8-sig": (UTF_8,),
    "utf-16": (UTF_16_LE, UTF_16_BE),
    "utf-16-le": (UTF_16_LE,),
    "utf-16-be": (UTF_16_BE,),
    "cp932": (CP932,),
    # What people call Shift_JIS is what Windows writes; the strict standard knows neither ①, 髙 nor ～.
    "shift_jis": (CP932,),
}
_IANA_NAMES: Final = {"windows-31j": "cp932"}  # which not every Python knows


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a file that was decoded once as a whole. `first` is its first character that is not blank."""

    encoding: Encoding
    first: str


class _Undecodable(Exception):
    """No character of the encoding begins at this offset, counted in bytes from the start of the file."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def allowed_encodings(asked: str | None) -> Sequence[Encoding]:
    """Those that a file may have whose user named this one, or none. Raises: Malformed for one we do not read."""
    if asked is None:
        return (UTF_8, UTF_16_LE, UTF_16_BE, CP932)
    try:
        return _ASKED[codecs.lookup(_IANA_NAMES.get(asked.lower(), asked)).name]
    except (LookupError, ValueError):
        raise Malformed("encoding", f"is none of utf-8, utf-16, cp932: {asked!a}") from None


def survey(stream: BinaryIO, allowed: Sequence[Encoding]) -> Survey:
    """The first of the possible encodings that holds for every byte. Raises: Malformed naming where each fails."""
    stream.seek(0)
    failures = []
    for encoding in _possible(stream.read(2 + len(UTF_8.mark)), allowed):
        try:
            return Survey(encoding, _first_character(stream, encoding))
        except _Undecodable as wrong:
            line = _line_of(stream, encoding, wrong.offset)
            failures.append(f"is not {encoding.name} at byte {wrong.offset} (line {line})")
    raise Malformed("encoding", f"the file {' and '.join(failures)}")


def _possible(head: bytes, allowed: Sequence[Encoding]) -> Sequence[Encoding]:
    """What the first bytes leave open. A file that is valid UTF-8 is UTF-8, whatever else it may be."""
    for marked in _MARKED:
        if head.startswith(marked.mark):
            if marked not in allowed:
                raise Malformed("encoding", f"the file is {marked.name}, by its byte order mark")
            return (marked,)
    if len(allowed) == 1:
        return allowed
    # Both formats begin with an ASCII character, so the place of its NUL tells the byte order. Source: RFC 4627, 3.
    if UTF_16_LE in allowed and head[1:2] == b"\0":
        return (UTF_16_LE,)
    if UTF_16_BE in allowed and head[:1] == b"\0":
        return (UTF_16_BE,)
    narrow = [encoding for encoding in allowed if encoding not in (UTF_16_LE, UTF_16_BE)]
    if head and not narrow:
        raise Malformed("encoding", "the file has no byte order mark; name utf-16-le or utf-16-be")
    return narrow or allowed


def _first_character(stream: BinaryIO, encoding: Encoding) -> str:
    """The first that is not blank, once every byte has been decoded. Raises: _Undecodable."""
    decoder = codecs.getincrementaldecoder(encoding.codec)()
    first = ""
    offset = skip_mark(stream, encoding)
    while True:
        chunk = stream.read(CHUNK_BYTES)
        undecoded = decoder.getstate()[0]  # the head of a character whose rest is still to come
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as wrong:
            raise _Undecodable(offset - len(undecoded) + wrong.start) from None
        first = first or text.lstrip(_BLANK)[:1]
        if not chunk:
            return first
        offset += len(chunk)


def skip_mark(stream: BinaryIO, encoding: Encoding) -> int:
    """Goes to the first byte of text. Returns: its offset."""
    stream.seek(0)
    if stream.read(len(encoding.mark)) == encoding.mark:
        return len(encoding.mark)
    return stream.seek(0)


def _line_of(stream: BinaryIO, encoding: Encoding, offset: int) -> int:
    """The number of the physical line that holds the byte at `offset`."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding.codec)("replace"), translate=True)
    left = offset - skip_mark(stream, encoding)
    ends = 0
    while left > 0 and (chunk := stream.read(min(left, CHUNK_BYTES))):
        ends += decoder.decode(chunk).count("\n")
        left -= len(chunk)
    return ends + decoder.decode(b"", final=True).count("\n") + 1
