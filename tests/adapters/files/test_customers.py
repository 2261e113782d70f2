"""Customers from files: the same members from CSV and NDJSON, an empty cell telling nothing."""

from io import BytesIO
from typing import Any

import pytest

from adapters.files.customers import customers
from adapters.files.records import Record
from domain.customers import customer_fields
from domain.errors import Malformed
from tests.adapters.files.sheets import bad, good

HEADER = "customer_id,email,name,locale,payment_method,payment_customer,closing_day\n"
TOLD: dict[str, Any] = {
    "customer_id": "c-1",
    "email": "taro@example.jp",
    "name": "山田 太郎",
    "locale": "ja",
    "payment_method": "pm_card_visa",
    "payment_customer": "cus_1",
    "closing_day": 20,
}


def read(content: str | bytes) -> list[Record]:
    """Every record of a file with this content."""
    return list(customers(BytesIO(content.encode() if isinstance(content, str) else content)))


def test_row() -> None:
    """A full row tells everything that is known of a customer, as the rules for customers take it."""
    records = read(HEADER + "c-1,taro@example.jp,山田 太郎,ja,pm_card_visa,cus_1,20\n")
    assert records == [Record(2, TOLD)]
    assert customer_fields(TOLD) == {name: value for name, value in TOLD.items() if name != "customer_id"}


def test_ndjson_says_the_same() -> None:
    """The same members as NDJSON tell the same; what is null there is told as nothing to know."""
    line = (
        '{"customer_id":"c-1","email":"taro@example.jp","name":"山田 太郎","locale":"ja",'
        '"payment_method":"pm_card_visa","payment_customer":"cus_1","closing_day":20}\n{"customer_id":2,"email":null}'
    )
    assert read(line) == [Record(1, TOLD), Record(2, {"customer_id": 2, "email": None})]


def test_empty_cells_tell_nothing() -> None:
    """An empty cell leaves what is known of the customer alone."""
    assert good(read(HEADER + "c-1,,,,,,\n")) == [{"customer_id": "c-1"}]
    assert good(read("name,customer_id\n,c-2\n")) == [{"customer_id": "c-2"}]


def test_names_in_cp932() -> None:
    """Names whose bytes hold backslashes, and those Shift_JIS proper does not know, arrive."""
    names = ["テスト機構", "表", "ソ", "能", "①", "髙", "～"]
    content = "customer_id,name\r\n" + "".join(f"c-1,{name}\r\n" for name in names)
    assert [row["name"] for row in good(read(content.encode("cp932")))] == names


def test_customer_id_is_required() -> None:
    """Without an id nobody is meant: the column, the cell and the member are required."""
    with pytest.raises(Malformed, match="header: lacks the columns customer_id"):
        read("name\n山田\n")
    assert bad(read("customer_id,name\n,山田\n")) == [(2, "customer_id")]
    assert bad(read('{"name":"山田"}\n')) == [(1, "customer_id")]


def test_unknown_members() -> None:
    """A member that would be dropped unread rejects its line by name; so do unknown columns, the whole file."""
    records = read('{"customer_id":"c-1","mail":"a@b"}\n{"customer_id":"c-2"}\n{"customer_id":"c-3","\\ud800":1}\n{')
    assert bad(records) == [(1, "mail"), (3, "\\ud800"), (4, "record")]
    assert good(records) == [{"customer_id": "c-2"}]
    with pytest.raises(Malformed, match="header: has unknown columns"):
        read("customer_id,mail\nc-1,a@b\n")


def test_closing_day_is_a_whole_number() -> None:
    """A closing day is plain digits; whether the day exists is for the rules to say."""
    records = read("customer_id,closing_day\nc-1,31.0\nc-2,末日\nc-3,31\n")
    assert bad(records) == [(2, "closing_day"), (3, "closing_day")]
    assert good(records) == [{"customer_id": "c-3", "closing_day": 31}]
