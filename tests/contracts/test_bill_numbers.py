"""Numbers of bills: gapless in each year of issue, whatever is undone on the way."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from domain.billing.bills import Bill
from domain.errors import Refused
from tests.contracts.billing import (
    OCTOBER,
    SEPTEMBER,
    TOKYO,
    have,
    issue,
    issue_all,
    item,
    set_clock,
    subscription,
)
from tests.contracts.stores import Books, Store

CUSTOMERS = [f"c-{number}" for number in range(6)]


def everyone(store: Store) -> None:
    """Six customers with something to bill in every month, in the October after."""
    set_clock(store, datetime(2026, 10, 5, tzinfo=UTC))
    have(store, *(subscription(f"s of {one}", customer_id=one) for one in CUSTOMERS))


def test_numbers_count_up_in_the_order_of_the_bills(store: Store) -> None:
    """From one, across months and sets."""
    everyone(store)
    assert issue_all(store, SEPTEMBER, *CUSTOMERS[:2]) == ["2026-000001", "2026-000002"]
    assert issue_all(store, OCTOBER, *CUSTOMERS[:1]) == ["2026-000003"]
    assert issue_all(store, SEPTEMBER, *CUSTOMERS[2:4]) == ["2026-000004", "2026-000005"]
    numbers = store.run(lambda books: [books.bills.get(one, SEPTEMBER) for one in CUSTOMERS[2:4]])
    assert [one and one.number for one in numbers] == ["2026-000004", "2026-000005"]


def test_bills_without_a_charge_take_a_number_too(store: Store) -> None:
    """Zero and carried: each is an invoice."""
    everyone(store)
    have(store, item("i-0", customer_id="c-zero", amount=0), item("i-1", customer_id="c-small", amount=1))
    assert issue_all(store, SEPTEMBER, "c-zero") == ["2026-000001"]
    assert issue_all(store, SEPTEMBER, "c-small") == ["2026-000002"]


def test_a_unit_that_is_undone_leaves_no_gap(store: Store) -> None:
    """Its numbers are given to the next."""
    everyone(store)
    issue_all(store, SEPTEMBER, CUSTOMERS[0])

    def issue_and_fail(books: Books) -> None:
        assert issue(books, SEPTEMBER, CUSTOMERS) == [f"2026-00000{number}" for number in range(2, 7)]
        raise Refused("at the last moment")

    with pytest.raises(Refused):
        store.run(issue_and_fail)
    assert issue_all(store, SEPTEMBER, CUSTOMERS[1]) == ["2026-000002"]


def test_nothing_to_issue_takes_no_number(store: Store) -> None:
    """Everybody has a bill already."""
    everyone(store)
    issue_all(store, SEPTEMBER, *CUSTOMERS)
    assert issue_all(store, SEPTEMBER, *CUSTOMERS) == []
    nothing: list[Bill] = []
    assert store.run(lambda books: books.bills.issue_each(nothing, TOKYO)) == []
    assert issue_all(store, OCTOBER, CUSTOMERS[0]) == ["2026-000007"]


def test_each_year_counts_from_one(store: Store) -> None:
    """The year of issue in the business zone: in Tokyo, 2027 begins at 15:00 UTC, and a month before it or not."""
    everyone(store)
    issue_all(store, SEPTEMBER, CUSTOMERS[0])
    set_clock(store, datetime(2026, 12, 31, 14, 59, tzinfo=UTC))
    assert issue_all(store, SEPTEMBER, CUSTOMERS[1]) == ["2026-000002"]
    set_clock(store, datetime(2026, 12, 31, 15, 0, 1, tzinfo=UTC))
    assert issue_all(store, SEPTEMBER, CUSTOMERS[2]) == ["2027-000001"]
    pago_pago = ZoneInfo("Pacific/Pago_Pago")
    assert issue_all(store, SEPTEMBER, CUSTOMERS[3], zone=pago_pago) == ["2026-000003"]
    assert issue_all(store, SEPTEMBER, CUSTOMERS[4]) == ["2027-000002"]
