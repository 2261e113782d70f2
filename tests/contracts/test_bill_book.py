"""`BillBook`: who is due, what is known of them, and the bills there are."""

from datetime import date

import pytest
from sqlalchemy import text

from domain.billing.bills import Carried, Settlement, bill_of
from domain.billing.book import Terms
from domain.billing.periods import Days
from domain.billing.plans import Tax
from domain.customers import Customer
from domain.money import Rounding
from tests.contracts.billing import (
    AUGUST,
    OCTOBER,
    SEPTEMBER,
    TERMS,
    TOKYO,
    accounts,
    bill,
    have,
    issue_all,
    item,
    lines,
    subscription,
    unbilled,
)
from tests.contracts.stores import Books, PostgresStore, Store

NOVEMBER = OCTOBER.plus(1)
SEPTEMBER_DAYS = Days(date(2026, 9, 1), date(2026, 9, 30))


def test_the_terms_of_a_month_are_frozen_by_its_first_run(store: Store) -> None:
    """A setting that changes later counts for other months."""
    other = Terms("Pacific/Apia", Rounding.CEIL)
    assert store.run(lambda books: books.bills.terms(SEPTEMBER)) is None
    assert store.run(lambda books: books.bills.open_run(SEPTEMBER, TERMS)) == TERMS
    assert store.run(lambda books: books.bills.open_run(SEPTEMBER, other)) == TERMS
    assert store.run(lambda books: books.bills.open_run(OCTOBER, other)) == other
    assert store.run(lambda books: books.bills.terms(SEPTEMBER)) == TERMS


def test_the_latest_closing_day_is_that_of_customers_with_anything_to_bill(store: Store) -> None:
    """Of those named, or of all; nobody who has nothing keeps the others waiting."""
    have(store, subscription("s-1"), closing_day=10)
    have(store, item("i-2", customer_id="c-2"), closing_day=25)
    store.run(lambda books: books.customers.ensure(["c-nothing"]))
    asked: list[list[str]] = [[], ["c-1"], ["c-1", "c-2"], ["c-nothing"]]
    found = store.run(lambda books: [books.bills.closing_day(SEPTEMBER, customer_ids) for customer_ids in asked])
    assert found == [25, 10, 25, None]


def test_who_had_something_long_ago_keeps_nobody_waiting(store: Store) -> None:
    """A subscription that ended before the month, and is on its bills, has no period in it."""
    have(store, subscription("s-1"), closing_day=10)
    have(store, subscription("s-2", customer_id="c-2", end=SEPTEMBER_DAYS.last), closing_day=31)
    issue_all(store, SEPTEMBER, "c-2")
    assert store.run(lambda books: books.bills.closing_day(NOVEMBER)) == 10


def test_the_millionth_bill_has_a_number_of_its_own(postgres_store: PostgresStore) -> None:
    """Seven digits long, wherever it is read."""
    have(postgres_store, subscription("s-1"))
    with postgres_store.engine.begin() as connection:
        connection.execute(text("INSERT INTO bill_numbers SELECT extract(year FROM ikkai_now()), 999999"))
    (number,) = issue_all(postgres_store, SEPTEMBER, "c-1")
    assert number.endswith("-1000000")
    assert bill(postgres_store, "c-1").number == number


def test_who_has_only_a_carried_bill_counts_for_the_closing_day(store: Store) -> None:
    """The carried bill makes that customer due, so the period must have ended for them, too."""
    have(store, subscription("s-1"), closing_day=10)
    have(store, item("i-2", customer_id="c-2", amount=30), closing_day=25)
    issue_all(store, SEPTEMBER, "c-2")
    assert bill(store, "c-2").settlement == Settlement.CARRIED
    assert store.run(lambda books: books.bills.closing_day(OCTOBER)) == 25


def test_those_without_a_bill_come_in_the_order_of_their_ids(store: Store) -> None:
    """In sets, from where the last one ended, of those named or of all."""
    have(store, *(subscription(f"s-{n}", customer_id=f"c-{n}") for n in range(6)))
    issue_all(store, SEPTEMBER, "c-3")
    assert unbilled(store, limit=2) == ["c-0", "c-1"]
    assert unbilled(store, after="c-1", limit=2) == ["c-2", "c-4"]
    assert unbilled(store, after="c-4") == ["c-5"]
    assert unbilled(store, among=["c-5", "c-3", "c-0", "c-404"]) == ["c-0", "c-5"]
    assert unbilled(store, OCTOBER, after="c-2", limit=1) == ["c-3"]


def test_who_has_nothing_for_the_month_is_not_due(store: Store) -> None:
    """Not begun, ended long before, dated later, or nothing at all."""
    have(
        store,
        subscription("s-1", customer_id="c-later", start=date(2026, 10, 1)),
        item("i-1", customer_id="c-item-later", day=date(2026, 10, 1)),
    )
    have(store, subscription("s-2", customer_id="c-ended", end=date(2026, 7, 31)))
    issue_all(store, AUGUST.plus(-1), "c-ended")
    store.run(lambda books: books.customers.ensure(["c-nothing"]))
    assert unbilled(store) == []


def test_a_bill_that_was_carried_makes_the_next_month_due(store: Store) -> None:
    """Alone, once, and never a month before it."""
    have(store, item(amount=30, day=date(2026, 9, 10)))
    issue_all(store)
    assert (unbilled(store, AUGUST), unbilled(store, OCTOBER), unbilled(store, NOVEMBER)) == ([], ["c-1"], ["c-1"])
    assert accounts(store, OCTOBER)[0].carried == [Carried(SEPTEMBER, 33, "JPY")]
    issue_all(store, OCTOBER)
    assert lines(store, OCTOBER) == [("2026-09", None, None, 33)]
    assert accounts(store, NOVEMBER)[0].carried == [Carried(OCTOBER, 33, "JPY")]


def test_a_subscription_that_ended_is_due_once_more_when_days_are_missing(store: Store) -> None:
    """It came to light after its months were billed."""
    have(store, subscription("s-1"))
    for month in (AUGUST, SEPTEMBER):
        issue_all(store, month)
    have(store, subscription("s-2", start=date(2026, 8, 1), end=date(2026, 8, 31)))
    assert unbilled(store, OCTOBER) == ["c-1"]
    issue_all(store, OCTOBER)
    late = ("s-2", date(2026, 8, 1), date(2026, 8, 31), 1000)
    assert late in lines(store, OCTOBER)
    assert late not in lines(store, NOVEMBER)


def test_a_bill_of_an_earlier_month_settles_no_subscription_that_begins_later(store: Store) -> None:
    """It never looked at it: what is missing of it is still on the next bill that does."""
    have(store, subscription("s-1"))
    issue_all(store, OCTOBER)
    have(store, subscription("s-2", start=date(2026, 10, 1)))  # late: October is billed
    issue_all(store, SEPTEMBER)  # a month that was never run
    issue_all(store, NOVEMBER)
    assert ("s-2", date(2026, 10, 1), date(2026, 10, 31), 1000) in lines(store, NOVEMBER)


def test_an_account_knows_all_that_a_bill_needs(store: Store) -> None:
    """Customer, subscriptions by id, items by day, and the neighbouring periods."""
    have(store, subscription("s-2"), subscription("s-1"), item("i-2"), item("i-1", day=date(2026, 9, 1)))
    store.run(lambda books: books.customers.save([Customer("c-1", None, None, "ja", "pm_1", "cus_1", 20)]))
    issue_all(store, AUGUST)
    (account,) = accounts(store)
    assert (account.closing_day, account.payment_method, account.payment_customer) == (20, "pm_1", "cus_1")
    assert list(account.subscriptions) == [subscription("s-1"), subscription("s-2")]
    assert list(account.items) == [item("i-1", day=date(2026, 9, 1)), item("i-2")]
    assert account.billed[AUGUST] == Days(date(2026, 7, 21), date(2026, 8, 20))


@pytest.mark.parametrize("lock", [True, False])
def test_whoever_has_a_bill_of_the_month_has_no_account(store: Store, *, lock: bool) -> None:
    """Another run was quicker; unknown customers have none either."""
    have(store, subscription("s-1"), subscription("s-2", customer_id="c-2"))
    issue_all(store, SEPTEMBER, "c-2")
    asked = accounts(store, SEPTEMBER, "c-404", "c-2", "c-1", lock=lock)
    assert [one.customer_id for one in asked] == ["c-1"]
    assert store.run(lambda books: list(books.bills.accounts(SEPTEMBER, [], lock=lock))) == []


def test_a_billed_item_is_on_no_other_account(store: Store) -> None:
    """Nor does it make anybody due."""
    have(store, item())
    issue_all(store)
    assert (accounts(store, OCTOBER)[0].items, unbilled(store, OCTOBER)) == ([], [])


def test_a_bill_is_stored_with_its_lines(store: Store) -> None:
    """Each with its days, its rate and its share of the tax; a carried one pays no tax again."""
    reduced = Tax(82_500, included=True)
    have(store, subscription(price=999, start=date(2026, 9, 16)), item(amount=-100, tax=reduced))
    have(store, item("i-0", amount=30, day=date(2026, 8, 1)))
    issue_all(store, AUGUST)
    (number,) = issue_all(store)
    shown = store.run(lambda books: books.bills.lines("c-1"))
    assert [(one["month"], one["source"], one["amount"]) for one in shown] == [
        *(("2026-08", "i-0", 30),),
        *(("2026-09", "s-1", 499), ("2026-09", "i-1", -100), ("2026-09", "2026-08", 33)),
    ]
    taxed = [(one["tax_rate"], one["tax_included"], one["tax"]) for one in shown]
    assert taxed == [("10", False, 3), ("10", False, 49), ("8.25", True, -7), ("0", True, 0)]
    assert (shown[1]["first_day"], shown[1]["last_day"]) == (date(2026, 9, 16), date(2026, 9, 30))
    assert (bill(store).number, bill(store).total) == (number, 499 + 49 - 100 + 33)


def test_a_bill_comes_back_with_its_charge(store: Store) -> None:
    """The charge is its operation, under the first attempt."""
    have(store, subscription())
    issue_all(store)
    stored = bill(store)
    assert (stored.total, stored.currency, stored.settlement, stored.attempt) == (1100, "JPY", "charge", 1)
    assert stored.operation is not None
    assert (stored.operation.key, stored.operation.content["bill"]) == ("billing:c-1:2026-09", stored.number)


@pytest.mark.parametrize(("amount", "settlement"), [(0, "nothing"), (30, "carried"), (-500, "carried")])
def test_a_bill_that_needs_no_charge_has_none(store: Store, amount: int, settlement: str) -> None:
    """Zero, too little, or a credit: it is there, with a number, and no attempt was made."""
    have(store, item(amount=amount))
    assert len(issue_all(store)) == 1
    stored = bill(store)
    assert (stored.settlement, stored.attempt, stored.operation) == (settlement, 0, None)


def test_a_locked_look_sees_the_same_bill(store: Store) -> None:
    """And of a bill that is not there, nothing."""
    have(store, subscription())
    issue_all(store)
    assert store.run(lambda books: books.bills.get("c-1", SEPTEMBER, lock=True)) == bill(store)
    assert store.run(lambda books: books.bills.get("c-1", OCTOBER, lock=True)) is None


def test_all_bills_of_a_customer_come_by_month(store: Store) -> None:
    """Those of others do not."""
    have(store, subscription(), subscription("s-2", customer_id="c-2"))
    for month in (OCTOBER, AUGUST, SEPTEMBER):
        issue_all(store, month, "c-1", "c-2")
    found = store.run(lambda books: books.bills.of_customer("c-1"))
    assert list(found) == [bill(store, "c-1", month) for month in (AUGUST, SEPTEMBER, OCTOBER)]


def test_those_with_a_bill_are_counted(store: Store) -> None:
    """Of the month, and of those named."""
    have(store, *(subscription(f"s-{n}", customer_id=f"c-{n}") for n in range(4)))
    issue_all(store, SEPTEMBER, "c-0", "c-1", "c-2")

    def count(books: Books) -> list[int]:
        asked = [(SEPTEMBER, []), (SEPTEMBER, ["c-1", "c-3", "c-404"]), (OCTOBER, [])]
        return [books.bills.billed(month, among) for month, among in asked]

    assert store.run(count) == [3, 1, 0]


def test_a_second_bill_of_the_same_month_is_a_lost_race(store: Store) -> None:
    """The unit starts again, and no number is lost to it."""
    have(store, subscription())
    twice = bill_of(accounts(store)[0], SEPTEMBER, Rounding.FLOOR)
    assert twice is not None
    issue_all(store)
    runs: list[str] = []

    def work(books: Books) -> list[str]:
        runs.append("begun")
        if len(runs) > 1:
            return []
        return list(books.bills.issue_each([twice], TOKYO))

    assert (store.run(work), len(runs)) == ([], 2)
    (number,) = issue_all(store, OCTOBER)
    assert number.endswith("-000002")


def test_the_total_may_have_64_bits(store: Store) -> None:
    """Nothing on the way makes it smaller."""
    have(store, item(amount=2**63 - 1, tax=Tax(0, included=True)))
    issue_all(store)
    assert bill(store).total == 2**63 - 1
    assert store.run(lambda books: books.bills.tally(SEPTEMBER)).totals == {"JPY": 2**63 - 1}
