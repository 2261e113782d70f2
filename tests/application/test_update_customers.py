"""`UpdateCustomers`: customers as a file or a person tells of them, as of now."""

import pytest

from application.customers import UpdateCustomers
from domain.customers import Customer
from domain.errors import Malformed
from tests.application.envelopes import customer_told
from tests.application.shop import Shop


@pytest.fixture
def tell(shop: Shop) -> UpdateCustomers:
    return UpdateCustomers(shop.transactions, shop.clock)


def test_customers_are_stored_as_told(shop: Shop, tell: UpdateCustomers) -> None:
    """Fields that are not mentioned keep what they were."""
    assert tell.execute([{"customer_id": "c-1", "name": "山田", "closing_day": 20}]) == [True]
    shop.clock.advance(60)
    assert tell.execute([{"customer_id": "c-1", "locale": "en"}]) == [True]
    assert shop.customer() == Customer("c-1", name="山田", locale="en", closing_day=20, as_of=shop.clock.now())


def test_telling_the_same_again_changes_nothing(tell: UpdateCustomers) -> None:
    """And says so (B57)."""
    rows = [{"customer_id": "c-1", "name": "山田"}, {"customer_id": "c-2"}]
    assert tell.execute(rows) == [True, True]
    assert tell.execute(rows) == [False, False]


def test_each_row_gets_its_own_answer(shop: Shop, tell: UpdateCustomers) -> None:
    """Rows that cannot be understood are named; the others are stored."""
    unread = Malformed("row", "has 3 cells instead of 2")
    answers = tell.execute(
        [
            {"customer_id": "c-1", "name": "first"},
            {"customer_id": "c-2", "closing_day": 32},
            unread,
            {"name": "nobody"},
            {"customer_id": "c-1", "name": "first"},
            {"customer_id": "c-1", "name": "second"},
        ]
    )
    fields = [answer.field if isinstance(answer, Malformed) else answer for answer in answers]
    assert fields == [True, "closing_day", "row", "customer_id", False, True]
    assert (shop.customer().name, set(shop.books.customers.customers)) == ("second", {"c-1"})


def test_an_older_message_of_the_shop_does_not_overwrite_it(shop: Shop, tell: UpdateCustomers) -> None:
    """What a person tells is news as of the moment it is told."""
    shop.clock.advance(3600)
    tell.execute([{"customer_id": "c-1", "name": "by hand"}])
    shop.tell(customer_told(id_="n-1", minute=30, name="late"), customer_told(id_="n-2", minute=90, email="a@b"))
    assert (shop.customer().name, shop.customer().email) == ("by hand", "a@b")


def test_no_rows_are_no_work(shop: Shop, tell: UpdateCustomers) -> None:
    """Not even a transaction."""
    shop.transactions.reachable = False
    assert tell.execute([]) == []
    assert len(tell.execute([{}])) == 1
