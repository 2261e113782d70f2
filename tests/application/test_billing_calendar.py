"""Which days a bill is for, and from which instant on a month can be billed."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from application.billing import CreateBills
from domain.billing.bills import Account
from domain.billing.book import Terms
from domain.calendar import Month
from domain.errors import Malformed
from domain.money import Rounding
from tests.application.office import MONTH, Office
from tests.fakes.billing import InMemoryBillBook

# The first instant after a month in the zone, by the zone's own rules. In Havana it is a midnight that comes twice.
ENDS = [
    ("Asia/Tokyo", "2026-09", "2026-09-30T15:00:00+00:00"),
    ("Pacific/Kiritimati", "2026-09", "2026-09-30T10:00:00+00:00"),
    ("Pacific/Pago_Pago", "2026-09", "2026-10-01T11:00:00+00:00"),
    ("America/Havana", "2026-10", "2026-11-01T04:00:00+00:00"),
]
WAYS: dict[str, Callable[[Office, str], object]] = {
    "run": lambda office, month: office.billing.run(month),
    "run for one": lambda office, month: office.billing.run(month, customers=["c-1"]),
    "preview": lambda office, month: office.billing.preview(month),
    "message": lambda office, month: office.billing.bill_customer("c-1", month),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("zone", "month", "ended"), ENDS)
def test_a_month_is_refused_until_its_last_instant_is_over(zone: str, month: str, ended: str, way: str) -> None:
    """By the store's clock, in the business zone; nothing is stored before (B12, B14)."""
    office = Office(zone=zone)
    office.have_subscribed()
    office.at(ended)
    office.clock.advance(-1e-6)
    with pytest.raises(Malformed, match=f"{month} has not ended") as refused:
        WAYS[way](office, month)
    stored = (office.billed(), office.books.bills.terms(Month.parse("month", month)))
    assert (refused.value.field, stored) == ("month", ({}, None))
    office.at(ended)
    WAYS[way](office, month)
    assert list(office.billed()) == ([] if way == "preview" else [month])


@pytest.mark.parametrize(("zone", "month", "ended"), ENDS)
def test_every_run_of_the_first_local_day_is_one(zone: str, month: str, ended: str) -> None:
    """Each hour, a midnight or an hour that comes twice included: one bill, one charge, under the same month (B14)."""
    office = Office(zone=zone)
    office.have_subscribed()
    office.at(ended)
    for _ in range(25):
        office.billing.run(month)
        office.clock.advance(3600)
    assert list(office.billed()) == [month]
    assert office.provider.paid() == [f"billing:c-1:{month}"]


def test_a_month_has_ended_when_it_has_for_every_customer(office: Office) -> None:
    """A later closing day holds up the run, but not the others that are named."""
    office.have_subscribed("c-1", closing_day=10)
    office.have_subscribed("c-2", closing_day=20)
    office.at("2026-10-15T00:00:00+09:00")
    with pytest.raises(Malformed, match="2026-10-21 00:00"):
        office.billing.run("2026-10")
    office.billing.run("2026-10", customers=["c-1"])
    office.at("2026-10-21T00:00:00+09:00")
    assert office.billing.run("2026-10").created == 1


def test_the_terms_of_the_first_run_hold_for_the_month(office: Office) -> None:
    """A zone or a rounding that is set meanwhile counts for the months after."""
    for customer_id in ("c-1", "c-2"):
        office.have_subscribed(customer_id)
        office.sell(f"i of {customer_id}", customer_id, amount=99, tax_rate="8")
    office.billing.run(MONTH, customers=["c-1"])
    office.terms = Terms("Pacific/Pago_Pago", Rounding.CEIL)
    later = CreateBills(office.transactions, office.clock, office.terms)
    assert later.preview(Month(2026, 9)).totals == {"JPY": 10_000 + 99 + 7}
    later.execute(Month(2026, 9))
    assert office.billed("c-1") == office.billed("c-2") == {MONTH: 10_000 + 99 + 7}
    later.execute(Month(2026, 8))
    assert office.books.bills.terms(Month(2026, 8)) == office.terms


def run_daily(office: Office, first: date, last: date) -> None:
    """On each day at noon, whatever has ended is billed."""
    day = first
    while day <= last:
        office.clock.set(datetime(day.year, day.month, day.day, 3, tzinfo=UTC))
        office.billing.run(str(Month.of(day).plus(-1)))
        day += timedelta(days=1)


@pytest.mark.parametrize(
    ("closing_day", "start", "lasts"),
    [
        (31, date(2017, 1, 31), ["01-31", "02-28", "03-31", "04-30", "05-31"]),
        (30, date(2017, 1, 31), ["02-28", "03-30", "04-30", "05-30"]),
        (31, date(2024, 1, 31), ["01-31", "02-29", "03-31", "04-30", "05-31"]),
        (29, date(2024, 1, 31), ["02-29", "03-29", "04-29", "05-29"]),
    ],
)
def test_short_months_neither_end_nor_move_the_closing_day(
    office: Office, closing_day: int, start: date, lasts: list[str]
) -> None:
    """The 31st stays the 31st after February, and no day is missing or there twice (B10)."""
    office.have(closing_day=closing_day)
    office.subscribe(start=str(start))
    run_daily(office, date(start.year, 2, 1), date(start.year, 6, 10))
    issued = [office.books.bills.issued[one].bill for one in sorted(office.books.bills.issued)]
    assert [f"{one.period.last:%m-%d}" for one in issued] == lasts
    days = [line.days for one in issued for line in one.lines if line.days is not None]
    assert (days[0].first, len(days)) == (start, len(issued))
    assert all(after.first == before.last + timedelta(days=1) for before, after in itertools.pairwise(days))


def run_each(office: Office, *months: str) -> None:
    for month in months:
        office.billing.run(month)


def test_a_full_year_is_twelve_whole_months(office: Office) -> None:
    """Also from the third to the second: 240, never eleven months (B16)."""
    office.have(closing_day=2)
    office.subscribe(price=20, currency="KRW", start="2025-08-03", end="2026-08-02", tax_rate="0")
    run_each(office, *(str(Month(2025, 8).plus(number)) for number in range(14)))
    assert sum(amount for month in office.billed() for _, _, amount in office.lines(month)) == 240
    assert office.billed() == {str(Month(2025, 9).plus(number)): 20 for number in range(12)}


@pytest.mark.parametrize(
    ("price", "start", "end", "bills"),
    [
        (2800, "2025-02-26", "2025-02-28", {"2025-02": 300}),
        (2900, "2020-02-27", "2020-02-29", {"2020-02": 300}),
        (8680, "2015-01-25", "2015-02-02", {"2015-01": 7 * 280, "2015-02": 2 * 310}),
    ],
)
def test_each_day_costs_its_own_months_day_price(
    office: Office, price: int, start: str, end: str, bills: dict[str, int]
) -> None:
    """A part of a month is priced by that month's length (B16)."""
    office.have()
    office.subscribe(price=price, start=start, end=end)
    run_each(office, *(str(Month.parse("", start[:7]).plus(number)) for number in range(-1, 3)))
    assert office.billed() == bills


def test_a_subscription_that_comes_to_light_late_is_on_the_next_bill(office: Office) -> None:
    """For all its days in periods that were billed, once; what is due for the month itself comes with it."""
    office.have_subscribed()
    run_each(office, "2026-06", "2026-07")
    office.subscribe("c-1", "late", price=3100, start="2026-06-16", end="2026-08-10")
    assert office.billing.run("2026-07").already == 1
    run_each(office, "2026-08", MONTH)
    assert office.lines("2026-08")[:3] == [
        ("late", "2026-08-01..2026-08-10", 1000),
        ("late", "2026-06-16..2026-06-30", 1550),
        ("late", "2026-07-01..2026-07-31", 3100),
    ]
    assert office.billed() == {"2026-06": 10_000, "2026-07": 10_000, "2026-08": 15_650, MONTH: 10_000}


def test_a_late_subscription_of_a_month_long_over_makes_its_customer_due(office: Office) -> None:
    """Though it has no day in the month that is run."""
    office.have_subscribed()
    run_each(office, "2026-06")
    office.subscribe("c-1", "s-1", price=300, start="2026-06-01", end="2026-06-30")
    run_each(office, MONTH)
    assert ("s-1", "2026-06-01..2026-06-30", 300) in office.lines()


def test_a_late_subscription_is_not_lost_to_the_bill_of_an_earlier_month(office: Office) -> None:
    """A month never run is billed by its own run, whenever that is, and owes nothing of what begins after it."""
    office.have_subscribed()
    run_each(office, "2026-07")
    office.subscribe("c-1", "late", price=3100, start="2026-07-01", end="2026-07-31")
    run_each(office, "2026-06", "2026-08")
    assert ("late", "2026-07-01..2026-07-31", 3100) in office.lines("2026-08")


def test_a_run_tells_of_earlier_months_with_bills_that_are_missing(office: Office) -> None:
    """Of who came to light after they were run, until they are run again."""
    office.have("c-1")
    office.subscribe("c-1", start="2026-08-01")
    assert office.billing.run("2026-08").missing == {}
    for late in ("c-2", "c-3"):
        office.have(late)
        office.subscribe(late, start="2026-08-01")
    august = Month(2026, 8)
    assert office.billing.run(MONTH).missing == {august: 2}
    assert office.billing.run(MONTH, customers=["c-2"]).missing == {august: 1}
    assert office.billing.run("2026-08").created == 2
    assert office.billing.run(MONTH).missing == {}


def test_a_run_tells_of_months_that_were_passed_over(office: Office) -> None:
    """Nobody ran August; and who had something until then, and no bill at all, is not forgotten either."""
    office.have("c-1")
    office.subscribe("c-1", start="2026-07-01")
    office.have("c-2")
    run_each(office, "2026-07")
    office.subscribe("c-2", start="2026-06-01", end="2026-06-30")
    assert office.billing.run(MONTH).missing == {Month(2026, 6): 1, Month(2026, 8): 1}


def test_an_end_that_moves_out_is_billed_for_the_days_between(office: Office) -> None:
    """On the next bill; parts of a period make up the whole, to the last yen."""
    office.have()
    office.subscribe(price=1000, start="2026-07-01", end="2026-07-10")
    run_each(office, "2026-07")
    office.subscribe(price=1000, start="2026-07-01", end="2026-08-31")
    run_each(office, "2026-08")
    assert office.lines("2026-07") == [("s of c-1", "2026-07-01..2026-07-10", 322)]
    assert office.lines("2026-08") == [
        ("s of c-1", "2026-08-01..2026-08-31", 1000),
        ("s of c-1", "2026-07-11..2026-07-31", 677),
    ]


@pytest.mark.parametrize("days", [(31, 5), (5, 31), (15, 28), (31, 30)])
@pytest.mark.parametrize("order", [("07", "08", "09"), ("08", "07", "09"), ("07", "09", "08")])
def test_periods_tile_when_the_closing_day_changes(
    office: Office, days: tuple[int, int], order: tuple[str, str, str]
) -> None:
    """In whatever order the months are billed: no day is missing, and none is there twice."""
    office.have(closing_day=days[0])
    office.subscribe(price=31_000)
    office.billing.run(f"2026-{order[0]}")
    office.have(closing_day=days[1])
    for month in order[1:]:
        office.billing.run(f"2026-{month}")
    periods = sorted(one.bill.period for one in office.books.bills.issued.values())
    assert len(periods) == 3
    assert all(after.first == before.last + timedelta(days=1) for before, after in itertools.pairwise(periods))
    assert [line for month in sorted(order) for line in office.lines(f"2026-{month}")] == [
        ("s of c-1", str(period), 31_000) for period in periods
    ]


def test_an_item_joins_the_first_bill_whose_period_reaches_it(office: Office) -> None:
    """One of an earlier day that was forgotten joins the next; one of a later day waits."""
    office.have_subscribed(closing_day=20)
    office.sell("i-1", date="2026-08-20", amount=100)
    office.sell("i-2", date="2026-08-21", amount=20)
    run_each(office, "2026-08")
    office.sell("i-3", date="2026-01-01", amount=3)
    run_each(office, MONTH)
    assert (office.billed()["2026-08"], office.billed()[MONTH]) == (10_100, 10_023)


def test_days_that_a_zone_skipped_are_billed_all_the_same() -> None:
    """Apia had no 30 December 2011; the month ends, and costs what it costs (B14)."""
    office = Office(zone="Pacific/Apia")
    office.have()
    office.subscribe(start="2011-12-01")
    office.at("2011-12-31T10:00:00+00:00")
    office.billing.run("2011-12")
    assert office.billed() == {"2011-12": 10_000}


def test_a_closing_day_that_changes_during_the_run_is_waited_for(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is billed, or charged, for days that are still to come."""
    office.have("c-1", closing_day=1)
    office.subscribe("c-1", start="2026-09-02")
    read = InMemoryBillBook.accounts

    def changed(books: InMemoryBillBook, *asked: Any, **how: Any) -> Sequence[Account]:
        customers = books._customers.customers
        customers["c-1"] = replace(customers["c-1"], closing_day=31)
        return read(books, *asked, **how)

    monkeypatch.setattr(InMemoryBillBook, "accounts", changed)
    report = office.billing.run("2026-10")
    assert [(failure.customer_id, failure.reason) for failure in report.failed] == [
        ("c-1", "the period 2026-10-01..2026-10-31 has not ended")
    ]
    assert office.provider.received == []
