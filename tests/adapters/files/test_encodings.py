"""Whatever encoding a file comes in, its rows are those of the clean file, or none of them is read."""

import io
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from adapters.files.records import read_records
from domain.errors import Malformed
from tests.adapters.files.sheets import NAMES, good, read

# Second bytes of 構, 表, ソ and 能 in cp932 are backslashes; ①, 髙 and ～ are in cp932 but not in Shift_JIS.
NAMES_TO_READ: Final = ("テスト機構", "表", "ソ", "能", "①", "髙", "～")
SHEET: Final = "id,name\r\n" + "".join(f'{number},"{name}"\r\n' for number, name in enumerate(NAMES_TO_READ))
ROWS: Final = [{"id": str(number), "name": name} for number, name in enumerate(NAMES_TO_READ)]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (SHEET.encode(), None),
        (SHEET.encode(), "utf-8"),
        (SHEET.encode(), "UTF8"),
        (BOM_UTF8 + SHEET.encode(), None),
        (BOM_UTF8 + SHEET.encode(), "utf-8"),
        (BOM_UTF8 + SHEET.encode(), "utf-8-sig"),
        (BOM_UTF16_LE + SHEET.encode("utf-16-le"), None),
        (BOM_UTF16_BE + SHEET.encode("utf-16-be"), None),
        (BOM_UTF16_LE + SHEET.encode("utf-16-le"), "utf-16"),
        (BOM_UTF16_BE + SHEET.encode("utf-16-be"), "UTF-16"),
        (BOM_UTF16_LE + SHEET.encode("utf-16-le"), "utf-16le"),
        (SHEET.encode("utf-16-le"), "utf-16le"),
        (SHEET.encode("utf-16-be"), "utf-16be"),
        (SHEET.encode("utf-16-le"), None),
        (SHEET.encode("utf-16-be"), "utf-16"),
        (SHEET.encode("cp932"), None),
        (SHEET.encode("cp932"), "cp932"),
        (SHEET.encode("cp932"), "shift_jis"),
        (SHEET.encode("cp932"), "Windows-31J"),
    ],
)
def test_same_rows_in_every_encoding(content: bytes, encoding: str | None) -> None:
    """A file gives the same rows, and no column lost or merged, in each encoding, named or found."""
    records = read(content, encoding=encoding)
    assert [(record.line, record.members) for record in records] == list(enumerate(ROWS, 2))


def test_backslash_bytes_with_every_separator() -> None:
    """A cp932 character whose second byte is a backslash never swallows the separator or the quote after it."""
    for separator in ",;\t":
        sheet = f'name{separator}id\n"表"{separator}1\nソ{separator}2\n{separator}能\n'
        assert good(read(sheet.encode("cp932"))) == [{"name": "表", "id": "1"}, {"name": "ソ", "id": "2"}]


def test_rare_characters_survive() -> None:
    """Emoji, joined emoji and kanji outside the BMP arrive as they were."""
    names = ["山田 太郎 🎉", "👨‍👩‍👧‍👦", "𠮷野", "髙①"]
    sheet = "id,name\n" + "".join(f"1,{name}\n" for name in names)
    for content in (sheet.encode(), sheet.encode("utf-16")):
        assert [row["name"] for row in good(read(content))] == names


def test_valid_in_two_encodings_is_utf_8() -> None:
    """Bytes that are valid UTF-8 are UTF-8, though they are valid cp932 as well."""
    content = "id,name\n1,日本\n".encode()
    content.decode("cp932")
    assert good(read(content)) == [{"id": "1", "name": "日本"}]


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (SHEET.encode("cp932"), "utf-8", "the file is not UTF-8 at byte 12 (line 2)"),
        (BOM_UTF8 + b"id,name\n1,\xff", "utf-8", "the file is not UTF-8 at byte 13 (line 2)"),
        (b"id,name\r1,a\r\n2,\xff", "utf-8", "the file is not UTF-8 at byte 15 (line 3)"),
        (b"id,name\n1,\xe3\x81", "utf-8", "the file is not UTF-8 at byte 10 (line 2)"),
        ("id,name\n1,髙\n".encode("cp932")[:-2], "cp932", "the file is not cp932 at byte 10 (line 2)"),
        (b"id,name\n1,caf\xe9,\n", "cp932", "the file is not cp932 at byte 13 (line 2)"),
        (SHEET.encode("utf-16"), "utf-8", "the file is UTF-16LE, by its byte order mark"),
        (SHEET.encode("utf-16"), "cp932", "the file is UTF-16LE, by its byte order mark"),
        (BOM_UTF8 + SHEET.encode(), "cp932", "the file is UTF-8, by its byte order mark"),
        (SHEET.encode("utf-16"), "utf-16be", "the file is UTF-16LE, by its byte order mark"),
        (SHEET.encode("utf-16")[:-1], None, None),
        (BOM_UTF16_LE + b"a\0\n\0\x00\xd8", None, "the file is not UTF-16LE at byte 6 (line 2)"),
        (b"\xe3\x81" * 5, "utf-16", "the file has no byte order mark; name utf-16-le or utf-16-be"),
        (
            b"id,name\n1,caf\xe9,\n",
            None,
            "the file is not UTF-8 at byte 13 (line 2) and is not cp932 at byte 13 (line 2)",
        ),
    ],
)
def test_wrong_encoding_refuses_the_file(content: bytes, encoding: str | None, message: str | None) -> None:
    """A file that is not in its encoding is refused as a whole, the place being named."""
    with pytest.raises(Malformed) as refusal:
        read(content, encoding=encoding)
    assert refusal.value.field == "encoding" or message is None
    assert message is None or refusal.value.reason == message


def test_last_byte_wrong_stores_nothing() -> None:
    """One wrong byte at the end of a long file refuses the file before its first row is given out."""
    content = b"id,name\n" + b"1,abcdefgh\n" * 100_000 + b"2,\xff\n"
    stream = io.BytesIO(content)
    with pytest.raises(Malformed, match=rf"is not UTF-8 at byte {len(content) - 2} \(line 100002\)"):
        next(read_records(stream, format="auto", encoding="utf-8", columns=NAMES))


def test_characters_across_chunks() -> None:
    """A character whose bytes fall into two chunks of reading is one character, and a wrong one is found there."""
    for encoding in ("utf-8", "cp932", "utf-16"):
        for shift in range(4):
            sheet = "id,name\n" + "1,x\n" * 8 + "1," + "y" * shift + "表" * 50_000 + "\n"
            assert len(good(read(sheet.encode(encoding)))) == 9
    # The first byte of a pair ends the first chunk, its impossible second byte begins the next.
    content = b"i" * 65_535 + b"\x8b\n"
    with pytest.raises(Malformed, match=r"is not cp932 at byte 65535 \(line 1\)"):
        read(content, encoding="cp932")


@pytest.mark.parametrize("name", ["utf-9", "", "euc_jp", "latin-1", "rot13", "a\0b", "あ", "\ud800", "os"])
def test_unknown_encoding(name: str) -> None:
    """An encoding that we do not read is refused by name before the file is looked at."""
    with pytest.raises(Malformed) as refusal:
        read(b"", encoding=name)
    assert refusal.value.field == "encoding"
    assert "utf-8, utf-16, cp932" in refusal.value.reason


def test_file_that_changes_while_read(tmp_path: Path) -> None:
    """A file that somebody writes to meanwhile ends in a refusal, not in a crash."""
    path = tmp_path / "sheet.csv"
    path.write_bytes(b"id,name\n" + b"1,abcdefgh\n" * 10_000)
    with path.open("rb") as stream:
        records = read_records(stream, format="auto", encoding=None, columns=NAMES)
        assert next(records).line == 2
        with path.open("r+b") as writer:
            writer.seek(100_000)
            writer.write(b"\xff")
        with pytest.raises(Malformed, match="file: was changed while it was read"):
            exhaust(records)


def exhaust(records: Iterator[object]) -> None:
    """Reads to the end."""
    for _ in records:
        pass
