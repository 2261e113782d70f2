"""Days of a subscription that no bill has yet, in periods billed before, are arrears: each day once."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from domain.billing.bills import Account, Bill, Line, LineKind, bill_of
from domain.billing.periods import Days
from domain.calendar import Month
from domain.money import Rounding
from tests.domain.billing.samples import days, item, month, subscription

PERIODS: Final = {
    month("2026-08"): days("2026-08-01", "2026-08-31"),
    month("2026-09"): days("2026-09-01", "2026-09-30"),
    month("2026-10"): days("2026-10-01", "2026-10-31"),
}
NOVEMBER: Final = month("2026-11")
PAYER: Final = Account("c-1", payment_method="pm_card_visa", billed=PERIODS, unsettled=frozenset({"s-1"}))


def billed(account: Account, of: Month = NOVEMBER) -> Bill:
    """The bill that there must be."""
    bill = bill_of(account, of, Rounding.FLOOR)
    assert bill is not None
    return bill


def lines(account: Account, of: Month = NOVEMBER) -> list[tuple[str, str, int]]:
    return [(str(line.kind), str(line.days), line.amount) for line in billed(account, of).lines]


def test_a_subscription_that_came_to_light_late_is_billed_for_the_period_before() -> None:
    """One line for November, one for the part of October that is missing."""
    assert lines(replace(PAYER, subscriptions=[subscription(start="2026-10-22")])) == [
        ("subscription", "2026-11-01..2026-11-30", 3100),
        ("arrears", "2026-10-22..2026-10-31", 1000),
    ]


def test_each_period_it_missed_is_a_line_of_its_own() -> None:
    """Whole periods stay whole, the oldest first; the month before any bill is not among them."""
    assert lines(replace(PAYER, subscriptions=[subscription(start="2026-07-01", end="2026-10-10")])) == [
        ("arrears", "2026-08-01..2026-08-31", 3100),
        ("arrears", "2026-09-01..2026-09-30", 3100),
        ("arrears", "2026-10-01..2026-10-10", 1000),
    ]


def test_a_month_that_never_ran_is_no_arrears() -> None:
    """It is billed by its own run, whenever that is, and then as itself."""
    gap = {one: period for one, period in PERIODS.items() if one != month("2026-09")}
    account = replace(PAYER, billed=gap, subscriptions=[subscription(start="2026-09-01", end="2026-10-31")])
    assert lines(account) == [("arrears", "2026-10-01..2026-10-31", 3100)]
    assert lines(replace(account, unsettled=frozenset()), month("2026-09")) == [
        ("subscription", "2026-09-01..2026-09-30", 3100)
    ]


def test_arrears_of_a_month_run_late_include_the_months_after_it() -> None:
    """The next bill takes them, whichever month that is the bill of."""
    later = {month("2026-10"): PERIODS[month("2026-10")]}
    account = replace(PAYER, billed=later, subscriptions=[subscription(start="2026-09-01", end="2026-10-10")])
    assert lines(account, month("2026-09")) == [
        ("subscription", "2026-09-01..2026-09-30", 3100),
        ("arrears", "2026-10-01..2026-10-10", 1000),
    ]


def test_a_subscription_that_is_settled_is_not_looked_for() -> None:
    """What is on bills already is not billed again."""
    assert lines(replace(PAYER, subscriptions=[subscription(start="2026-08-01")], unsettled=frozenset())) == [
        ("subscription", "2026-11-01..2026-11-30", 3100)
    ]


def test_an_end_moved_later_after_a_part_was_billed_bills_the_days_between() -> None:
    """October was billed to its 10th; open again, its 21 other days make it whole: 1,000 and 2,100."""
    account = replace(
        PAYER, subscriptions=[subscription(start="2026-08-01")],
        billed_days={"s-1": [PERIODS[month("2026-08")], PERIODS[month("2026-09")], days("2026-10-01", "2026-10-10")]},
    )  # fmt: skip
    assert lines(account) == [
        ("subscription", "2026-11-01..2026-11-30", 3100),
        ("arrears", "2026-10-11..2026-10-31", 2100),
    ]


def test_an_end_moved_later_within_a_period_bills_up_to_it() -> None:
    """Not to the end of the period."""
    account = replace(
        PAYER, subscriptions=[subscription(end="2026-10-20")], billed_days={"s-1": [days("2026-10-01", "2026-10-10")]}
    )
    assert lines(account) == [("arrears", "2026-10-11..2026-10-20", 1000)]


def test_days_billed_in_the_middle_leave_two_lines() -> None:
    """Before and after them; together with them they are the whole period's price."""
    account = replace(
        PAYER, subscriptions=[subscription(end="2026-10-31")], billed_days={"s-1": [days("2026-10-11", "2026-10-20")]}
    )
    assert lines(account) == [
        ("arrears", "2026-10-01..2026-10-10", 1000),
        ("arrears", "2026-10-21..2026-10-31", 1100),
    ]


def test_two_lines_of_one_period_make_up_the_whole_together() -> None:
    """The second knows of the first: 280 and 392 beside 196, where 14 days of February alone would be 434."""
    account = replace(
        PAYER, subscriptions=[subscription(price=868, start="2026-01-15", end="2026-02-14")],
        billed={month("2026-02"): days("2026-01-15", "2026-02-14")},
        billed_days={"s-1": [days("2026-01-25", "2026-01-31")]},
    )  # fmt: skip
    assert lines(account) == [
        ("arrears", "2026-01-15..2026-01-24", 280),
        ("arrears", "2026-02-01..2026-02-14", 392),
    ]


def test_days_of_this_period_that_are_billed_already_are_left_out() -> None:
    """Also where the closing day moved and the days lie in the period now billed."""
    account = replace(
        PAYER, subscriptions=[subscription(end="2026-11-30")], billed={},
        billed_days={"s-1": [days("2026-11-01", "2026-11-10")]},
    )  # fmt: skip
    assert [(kind, run) for kind, run, _ in lines(account)] == [("subscription", "2026-11-11..2026-11-30")]


def test_one_subscriptions_days_are_not_anothers() -> None:
    """Two of one plan are two."""
    account = replace(
        PAYER, subscriptions=[subscription(end="2026-10-31"), subscription("s-2", end="2026-10-31")],
        unsettled=frozenset({"s-1", "s-2"}), billed_days={"s-2": [PERIODS[month("2026-10")]]},
    )  # fmt: skip
    assert [(line.source, line.kind) for line in billed(account).lines] == [("s-1", LineKind.ARREARS)]


def test_an_item_that_came_to_light_late_is_an_item() -> None:
    """Of its own date, once."""
    account = replace(PAYER, items=[item(on="2026-09-15", amount=700)])
    assert lines(account) == [("item", "2026-09-15..2026-09-15", 700)]


@given(st.data(), st.integers(0, 100_000), st.sampled_from(Rounding))
def test_whatever_is_billed_when_every_day_is_billed_once(data: st.DataObject, price: int, rounding: Rounding) -> None:
    """Months in any order, the closing day and the end moving between the bills: no day twice, none missing."""
    whole = subscription(price=price, start="2026-01-10", end="2026-05-20")
    assert whole.end is not None
    ends = sorted(data.draw(st.lists(st.dates(whole.start, whole.end), min_size=6, max_size=6)))
    months = [month("2026-01").plus(step) for step in data.draw(st.permutations(range(6)))]
    account = replace(PAYER, billed={}, items=[item(on="2025-01-01")])  # the item makes sure of a bill
    billed_lines: list[Line] = []
    # July begins after all of it, and is billed last: what came to light late is on it.
    for of, end in zip([*months, month("2026-07")], [*ends, whole.end], strict=True):
        known = replace(account, subscriptions=[replace(whole, end=end)], closing_day=data.draw(st.integers(1, 31)))
        bill = bill_of(known, of, rounding)
        assert bill is not None
        billed_lines += [line for line in bill.lines if line.kind is not LineKind.ITEM]
        runs = [line.days for line in billed_lines if line.days is not None]
        account = replace(account, billed={**account.billed, of: bill.period}, billed_days={"s-1": runs})
    assert sorted(one for run in runs for one in _each_day(run)) == _each_day(whole.days)
    for period in account.billed.values():
        amounts = [line.amount for line in billed_lines if line.days is not None and line.days.within(period)]
        if period.within(whole.days) == period:
            assert abs(sum(amounts) - price) < len(amounts)


def _each_day(run: Days) -> list[date]:
    return [run.first + timedelta(days=step) for step in range(run.count)]
