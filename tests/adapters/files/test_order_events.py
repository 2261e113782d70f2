"""Order events from files: rows become confirmed orders, envelopes stay what they are."""

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest

from adapters.files.order_events import envelopes
from adapters.files.records import Record
from domain.errors import Malformed
from domain.orders.events import EventType, OrderEvent, read_event
from tests.adapters.files.sheets import bad, good

HEADER = "order_id,customer_id,total,currency,points,time,revision\n"
ROW = "o-1,c-1,12000,JPY,120,2026-10-03T12:34:56+09:00,2\n"
NOW = datetime(2026, 10, 3, 12, tzinfo=UTC)


def read(content: str, **options: Any) -> list[Record]:
    """Every record of a file with this content."""
    return list(envelopes(BytesIO(content.encode()), **options))


def events(records: list[Record]) -> list[OrderEvent | str]:
    """What `read_event` makes of each: the event, or the field that is wrong."""
    outcomes: list[OrderEvent | str] = []
    for record in records:
        try:
            if isinstance(record.members, Malformed):
                raise record.members
            outcomes.append(read_event(record.members, now=NOW))
        except Malformed as wrong:
            outcomes.append(wrong.field)
    return outcomes


def test_row_is_a_confirmed_order() -> None:
    """A CSV row is an `order.confirmed` of source csv, whose id is order and revision."""
    (record,) = read(HEADER + ROW)
    assert record == Record(
        2,
        {
            "specversion": "1.0",
            "source": "csv",
            "id": "o-1#2",
            "type": "order.confirmed",
            "time": "2026-10-03T12:34:56+09:00",
            "data": {
                "order_id": "o-1",
                "customer_id": "c-1",
                "total": 12000,
                "currency": "JPY",
                "points": 120,
                "revision": 2,
            },
        },
    )


@pytest.mark.parametrize(
    "content",
    [
        "order_id,customer_id,total,currency,time\no-1,c-1,12000,JPY,2026-10-03T12:34:56+09:00",
        HEADER + "o-1,c-1,12000,JPY,,2026-10-03T12:34:56+09:00,\n",
        "time;currency;total;customer_id;order_id\n2026-10-03T12:34:56+09:00;JPY;12000;c-1;o-1\n",
    ],
)
def test_points_and_revision_are_optional(content: str) -> None:
    """Where points and revision are not told, the rules' own apply: revision 1, points by the earn rate."""
    (event,) = events(read(content))
    assert isinstance(event, OrderEvent)
    assert (event.source, event.id, event.type, event.revision) == ("csv", "o-1#1", EventType.ORDER_CONFIRMED, 1)
    assert (event.data["total"], event.data["points"], event.data["ship_to"]) == (12000, None, None)


@pytest.mark.parametrize("missing", ["order_id", "customer_id", "total", "currency", "time"])
def test_required_columns(missing: str) -> None:
    """A file without a column that every order needs is refused, naming it; an empty cell rejects its row."""
    names = HEADER.strip().split(",")
    cells = ROW.strip().split(",")
    place = names.index(missing)
    with pytest.raises(Malformed, match=f"header: lacks the columns {missing}"):
        read(",".join(names[:place] + names[place + 1 :]))
    cells[place] = ""
    assert events(read(HEADER + ",".join(cells))) == [missing]


@pytest.mark.parametrize("column", ["total", "points", "revision"])
@pytest.mark.parametrize("cell", ["abc", "1e3", "１２", "1_000", "12.0", " 12", "-1", "99999999999999999999"])
def test_numbers_are_strict(column: str, cell: str) -> None:
    """A number that is not plain digits rejects its row by column; the good rows of the file are read."""
    names = HEADER.strip().split(",")
    cells = ROW.strip().split(",")
    cells[names.index(column)] = cell
    records = read(HEADER + ROW + ",".join(cells) + "\n" + ROW)
    assert bad(records) == [(3, column)]
    assert len(good(records)) == 2


@pytest.mark.parametrize(
    ("order_id", "is_good"),
    [
        ("A\0", False),
        (" o-1", False),
        ("o-1 ", False),
        ("o\x07", False),
        ("山田🎉", True),
        ("o" * 126, True),
        ("o" * 127, False),
        ("o" * 129, False),
    ],
)
def test_order_ids_are_refused_by_column(order_id: str, is_good: bool) -> None:
    """An order id that cannot be stored, or not with its revision, is named as the column it stands in."""
    (event,) = events(read(HEADER + ROW.replace("o-1", order_id)))
    assert isinstance(event, OrderEvent) if is_good else event == "order_id"


def test_same_order_in_two_forms_of_unicode() -> None:
    """An order id written composed or decomposed is one order and one event id."""
    composed, decomposed = events(read(HEADER + ROW.replace("o-1", "が") + ROW.replace("o-1", "か\u3099")))
    assert composed == decomposed


def test_same_row_twice_is_the_same_event() -> None:
    """Rows that are equal make equal events; the same order with other points has the same id and other content."""
    first, same, other = events(read(HEADER + ROW + ROW + ROW.replace(",120,", ",80,")))
    assert isinstance(first, OrderEvent)
    assert isinstance(other, OrderEvent)
    assert first == same
    assert (first.source, first.id) == (other.source, other.id)
    assert first.fingerprint != other.fingerprint


def test_envelopes_stay_as_they_are() -> None:
    """NDJSON lines are handed on untouched, for `read_event` to judge them by field."""
    line = '{"specversion":"1.0","source":"shop","id":"e-1","type":"order.cancelled","data":{"order_id":7},"more":1.5}'
    assert read(line + "\n\n" + '{"order_id":"o-1"}') == [
        Record(
            1,
            {
                "specversion": "1.0",
                "source": "shop",
                "id": "e-1",
                "type": "order.cancelled",
                "data": {"order_id": 7},
                "more": 1.5,
            },
        ),
        Record(3, {"order_id": "o-1"}),
    ]


def test_nul_and_surrogates_in_envelopes() -> None:
    """NUL and lone surrogates, valid in JSON, end as bad rows by field; kanji and emoji arrive."""
    template = (
        '{"specversion":"1.0","source":"shop","id":"e-1","type":"order.confirmed","time":"2026-10-03T12:34:56+09:00",'
        '"data":{"order_id":"%s","customer_id":"c","total":1,"currency":"JPY","ship_to":{"name":"%s","country":"JP"}}}'
    )
    rows = [("A\\u0000", "a"), ("o-1", "a\\u0000b"), ("o-1", "\\ud800"), ("o-1", "山田 太郎 髙① 👨‍👩‍👧 🎉")]
    *refused, event = events(read("\n".join(template % row for row in rows)))
    assert refused == ["order_id", "ship_to.name", "ship_to.name"]
    assert isinstance(event, OrderEvent)
    assert event.data["ship_to"]["name"] == "山田 太郎 髙① 👨‍👩‍👧 🎉"


def test_bad_rows_of_a_long_file_are_named() -> None:
    """Of 1,000 rows whose 500th has points abc, 999 are read and the bad one is named by its line."""
    rows = [ROW.replace("o-1", f"o-{number}") for number in range(1, 1001)]
    rows[499] = rows[499].replace(",120,", ",abc,")
    records = read(HEADER + "".join(rows))
    assert bad(records) == [(501, "points")]
    assert len(good(records)) == 999
