"""`AcceptOrderEvents`: the door through which all order events come in."""

from collections.abc import Sequence

import pytest

from application.orders import Receipt
from domain.errors import Malformed, Unavailable
from domain.points import MAX_POINTS
from tests.application.envelopes import Envelope, confirmed, customer_told
from tests.application.shop import Shop


def counted(receipt: Receipt) -> tuple[int, int, int, int]:
    return receipt.accepted, receipt.duplicates, len(receipt.conflicts), len(receipt.rejected)


def test_what_is_accepted_is_stored_and_not_yet_applied(shop: Shop) -> None:
    """Committed, and due."""
    assert counted(shop.accept.execute([confirmed("o-1"), confirmed("o-2")])) == (2, 0, 0, 0)
    assert shop.books.inbox.due() == 2
    assert shop.books.orders.orders == {}


def test_a_second_delivery_is_a_duplicate(shop: Shop) -> None:
    """Whether it comes alone, later, or in the same batch."""
    assert counted(shop.accept.execute([confirmed(), confirmed()])) == (1, 1, 0, 0)
    assert counted(shop.accept.execute([confirmed()])) == (0, 1, 0, 0)
    shop.apply.execute()
    assert counted(shop.accept.execute([confirmed()])) == (0, 1, 0, 0)


def test_the_valid_part_of_a_batch_is_stored(shop: Shop) -> None:
    """Each of the others is named with its place, and with the field that is wrong."""
    known = confirmed("o-1", total=100)
    shop.accept.execute([known])
    batch = [
        confirmed("o-2"),
        {**confirmed("o-3"), "specversion": "0.3"},
        confirmed("o-1", total=999),
        "not an object",
        Malformed("body", "is not JSON"),
        known,
        confirmed("o-4"),
    ]
    receipt = shop.accept.execute(batch, first_index=10)
    assert counted(receipt) == (2, 1, 1, 3)
    assert [(one.index, one.field) for one in receipt.rejected] == [(11, "specversion"), (13, "event"), (14, "body")]
    assert [(one.index, one.id) for one in receipt.conflicts] == [(12, known["id"])]
    assert set(shop.events()) == {known["id"], confirmed("o-2")["id"], confirmed("o-4")["id"]}


def test_receipts_of_parts_add_up(shop: Shop) -> None:
    """A file is taken in by parts and receipted as one."""
    whole = Receipt()
    parts: Sequence[list[object]] = ([confirmed(), confirmed(total=1), {}], [confirmed()])
    for part in parts:
        whole.add(shop.accept.execute(part))
    assert counted(whole) == (1, 1, 1, 1)


def test_nothing_in_nothing_stored(shop: Shop) -> None:
    """Neither an empty batch nor one without a valid event opens a transaction."""
    shop.transactions.reachable = False
    assert counted(shop.accept.execute([])) == (0, 0, 0, 0)
    assert counted(shop.accept.execute([None, []])) == (0, 0, 0, 2)


def test_what_could_not_be_stored_is_not_receipted(shop: Shop) -> None:
    """Whoever gets no receipt delivers again."""
    shop.transactions.reachable = False
    with pytest.raises(Unavailable):
        shop.accept.execute([confirmed()])


def test_an_answer_that_was_lost_makes_no_second_event(shop: Shop) -> None:
    """A COMMIT answered by silence is tried again, and finds its own event."""
    shop.transactions.lose_next_answer()
    receipt = shop.accept.execute([confirmed()])
    assert receipt.accepted + receipt.duplicates == 1
    assert receipt.conflicts == []
    assert shop.books.inbox.due() == 1


def of_data(name: str, value: object) -> Envelope:
    envelope = confirmed()
    return {**envelope, "data": {**envelope["data"], name: value}}


@pytest.mark.parametrize(
    ("envelope", "field"),
    [
        *((of_data("points", value), "points") for value in (-5, 1.5, "10", "1e3", True, float("inf"), MAX_POINTS + 1)),
        *((of_data("total", value), "total") for value in (-1, 119.99, "12000", None, True, 2**63)),
        *((of_data("order_id", value), "order_id") for value in (None, 1.0, True, "", " o-1", "o\x00", "x" * 129)),
        *((of_data("revision", value), "revision") for value in (0, "1", 1.0, None, 2**63)),
        (of_data("currency", "YEN"), "currency"),
        (of_data("ship_to", {"name": "山田", "country": "\ud800"}), "ship_to.country"),
        ({**confirmed(), "time": "2026-10-03T12:34:56"}, "time"),
        ({**confirmed(), "type": "payment.settled"}, "type"),
        ({**confirmed(), "id": ""}, "id"),
        (confirmed(minute=24 * 60 + 1), "time"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_name_of_field(shop: Shop, envelope: Envelope, field: str) -> None:
    """At the door, for good: nothing of it is stored and nothing will be retried (B09, B38)."""
    receipt = shop.accept.execute([envelope])
    assert [one.field for one in receipt.rejected] == [field]
    assert shop.events() == {}


def test_a_number_is_an_id_as_its_digits(shop: Shop) -> None:
    """11497 and "11497" are one order."""
    receipt = shop.accept.execute([of_data("order_id", 11497), of_data("order_id", "11497")])
    assert counted(receipt) == (1, 1, 0, 0)
    assert set(shop.events("11497")) == {confirmed()["id"]}


def test_a_producers_clock_may_be_ahead(shop: Shop) -> None:
    """By up to a day (B34)."""
    assert counted(shop.accept.execute([confirmed(minute=24 * 60)])) == (1, 0, 0, 0)


def test_customers_come_in_through_the_same_door(shop: Shop) -> None:
    """News of customers are events like any other."""
    news = [customer_told(id_="n-1", name="山田 🎉"), customer_told(id_="n-2", closing_day=32)]
    receipt = shop.accept.execute(news)
    assert counted(receipt) == (1, 0, 0, 1)
