"""Periods tile the calendar, whatever the closing day and whenever it changes (B10, B12, B14)."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.billing.periods import ONE_DAY, Days, billing_month, ended_at, period_of
from domain.calendar import Month, business_date
from domain.errors import Malformed
from tests.domain.billing.samples import day, days, month
from tests.domain.published import published, source_of

CLOSING_DAYS = st.integers(1, 31)
MONTHS = st.builds(Month, st.integers(1900, 2299), st.integers(1, 12))
ZONES = st.sampled_from(sorted(available_timezones())).map(ZoneInfo)
SHORT_RUNS = st.builds(
    lambda first, more: Days(first, first + timedelta(days=more)),
    st.dates(date(2026, 1, 1), date(2026, 3, 31)),
    st.integers(0, 40),
)


@pytest.mark.parametrize("closing_day", range(1, 32))
def test_periods_tile_four_hundred_years(closing_day: int) -> None:
    """One day after another, none missing and none twice, through every leap year there is."""
    months = [Month(1900, 1).plus(step) for step in range(400 * 12)]
    periods = [period_of(one, closing_day, {}) for one in months]
    assert all(before.last + ONE_DAY == after.first for before, after in pairwise(periods))
    assert all(period.first <= period.last for period in periods)


@pytest.mark.parametrize("example", published("periods"), ids=source_of)
def test_a_closing_day_is_kept_through_short_months(example: dict[str, Any]) -> None:
    """Five periods, each ending where the published example has it."""
    first = Month.of(day(example["ends"][0]))
    ends = [period_of(first.plus(step), example["closing_day"], {}).last for step in range(5)]
    assert ends == [day(end) for end in example["ends"]]


@pytest.mark.parametrize(
    ("closing_day", "of", "first", "last"),
    [
        (31, "2026-02", "2026-02-01", "2026-02-28"),
        (30, "2026-02", "2026-01-31", "2026-02-28"),
        (30, "2024-02", "2024-01-31", "2024-02-29"),
        (30, "2026-03", "2026-03-01", "2026-03-30"),
        (29, "2024-03", "2024-03-01", "2024-03-29"),
        (1, "2026-03", "2026-02-02", "2026-03-01"),
        (31, "1900-02", "1900-02-01", "1900-02-28"),  # no leap year
        (20, "2026-01", "2025-12-21", "2026-01-20"),
    ],
)
def test_a_period_ends_on_the_closing_day_or_the_last_of_a_shorter_month(
    closing_day: int, of: str, first: str, last: str
) -> None:
    """Worked out by hand."""
    assert period_of(month(of), closing_day, {}) == days(first, last)


@given(st.data(), MONTHS, st.integers(2, 18))
def test_periods_tile_when_the_closing_day_changes_between_bills_in_any_order(
    data: st.DataObject, first: Month, count: int
) -> None:
    """Months run late, early or not in order fit between their neighbours as these were billed."""
    billed: dict[Month, Days] = {}
    for step in data.draw(st.permutations(range(count))):
        billed[first.plus(step)] = period_of(first.plus(step), data.draw(CLOSING_DAYS), billed)
    periods = [period for _, period in sorted(billed.items())]
    assert all(period.first <= period.last for period in periods)
    assert all(before.last + ONE_DAY == after.first for before, after in pairwise(periods))


def test_a_new_closing_day_counts_from_the_next_unbilled_period() -> None:
    """October closed on its 10th; a customer who now closes on the 25th has one long November."""
    billed = {month("2026-10"): days("2026-09-11", "2026-10-10")}
    assert period_of(month("2026-11"), 25, billed) == days("2026-10-11", "2026-11-25")


def test_a_month_run_late_ends_where_the_next_one_began() -> None:
    """Whatever the closing day is by now."""
    billed = {month("2026-11"): days("2026-10-11", "2026-11-10")}
    assert period_of(month("2026-10"), 31, billed) == days("2026-10-01", "2026-10-10")


@given(SHORT_RUNS, st.lists(SHORT_RUNS, max_size=6))
def test_what_is_left_of_some_days_is_every_day_that_is_not_taken(whole: Days, taken: list[Days]) -> None:
    """In order, no day twice, and no two runs that could be one; whatever overlaps whatever."""
    left = list(whole.without(taken))
    gone = {one for run in taken for one in _each_day(run)}
    assert [one for run in left for one in _each_day(run)] == [one for one in _each_day(whole) if one not in gone]
    assert all(before.last + ONE_DAY < after.first for before, after in pairwise(left))


@given(SHORT_RUNS, SHORT_RUNS)
def test_what_two_runs_share_is_what_both_have(one: Days, other: Days) -> None:
    """Nothing where they do not meet."""
    shared = one.within(other)
    assert set(_each_day(shared) if shared else ()) == set(_each_day(one)) & set(_each_day(other))


def test_days_are_counted_with_the_first_and_the_last() -> None:
    """One day is one day."""
    assert days("2026-10-01", "2026-10-01").count == 1
    assert days("2024-02-01", "2024-03-01").count == 30
    assert str(days("2026-10-01", "2026-10-31")) == "2026-10-01..2026-10-31"


@pytest.mark.parametrize(
    ("zone", "of", "closing_day", "end"),
    [
        ("Asia/Tokyo", "2023-02", 31, "2023-02-28T15:00:00"),
        ("Pacific/Kiritimati", "2023-02", 31, "2023-02-28T10:00:00"),
        ("Pacific/Pago_Pago", "2023-02", 31, "2023-03-01T11:00:00"),
        ("America/New_York", "2024-03", 9, "2024-03-10T05:00:00"),  # the day whose 02:30 is missing
        ("America/New_York", "2024-03", 10, "2024-03-11T04:00:00"),  # 23 hours later
        ("America/New_York", "2024-11", 2, "2024-11-03T04:00:00"),
        ("America/New_York", "2024-11", 3, "2024-11-04T05:00:00"),  # 25 hours later
        ("America/Juneau", "2015-11", 31, "2015-12-01T09:00:00"),  # a run at 08:09:02Z is still in November
        ("America/Havana", "2026-10", 31, "2026-11-01T04:00:00"),  # midnight comes twice: the first
        ("America/Asuncion", "2017-09", 31, "2017-10-01T04:00:00"),  # no midnight: 01:00
        ("Pacific/Apia", "2011-12", 29, "2011-12-30T10:00:00"),  # the 30th is left out
        ("Pacific/Apia", "2011-12", 30, "2011-12-30T10:00:00"),
        ("Pacific/Apia", "2011-12", 31, "2011-12-31T10:00:00"),
    ],
)
def test_a_period_has_ended_when_the_business_zone_says_so(zone: str, of: str, closing_day: int, end: str) -> None:
    """Known boundaries of zones that make it hard (B12, B14)."""
    assert ended_at(month(of), closing_day, ZoneInfo(zone)) == datetime.fromisoformat(end).replace(tzinfo=UTC)


@settings(max_examples=400)
@given(MONTHS, CLOSING_DAYS, ZONES)
def test_the_end_of_a_period_is_the_first_instant_after_its_last_day(
    of: Month, closing_day: int, zone: ZoneInfo
) -> None:
    """In every zone: the instant before is of the last day, or of the one before where a zone left the last day out."""
    end, last = ended_at(of, closing_day, zone), of.closing_date(closing_day)
    before = business_date(end - timedelta(microseconds=1), zone)
    assert before <= last < business_date(end, zone)
    assert before == last or _is_left_out(last, zone)


@settings(max_examples=200)
@given(MONTHS, CLOSING_DAYS, ZONES)
def test_ends_of_periods_follow_one_another(of: Month, closing_day: int, zone: ZoneInfo) -> None:
    """A later month never ends before an earlier one, or at the same time."""
    ends = [ended_at(of.plus(step), closing_day, zone) for step in range(13)]
    assert all(before < after for before, after in pairwise(ends))


@pytest.mark.parametrize(
    ("zone", "last", "end"),
    [
        ("America/St_Johns", "2005-10-29", "2005-10-30T02:30:00"),
        ("America/Moncton", "2005-10-29", "2005-10-30T03:00:00"),
        ("America/Goose_Bay", "2010-11-06", "2010-11-07T03:00:00"),
    ],
)
def test_a_midnight_that_comes_twice_a_minute_after_itself_counts_at_its_first(zone: str, last: str, end: str) -> None:
    """Zones that turned their clocks back at 00:01, to 23:01 of the day before."""
    of = Month.of(day(last))
    assert ended_at(of, day(last).day, ZoneInfo(zone)) == datetime.fromisoformat(end).replace(tzinfo=UTC)


@pytest.mark.parametrize("text", ["1900-01", "2026-02", "9998-12"])
def test_a_month_of_any_year_that_stores_can_hold_is_billed(text: str) -> None:
    """With a month to spare on either side, whatever the closing day and the zone."""
    of = billing_month("month", text)
    for closing_day in (1, 31):
        assert period_of(of, closing_day, {}).count >= 28
        assert ended_at(of, closing_day, ZoneInfo("Asia/Tokyo")) < ended_at(of, closing_day, ZoneInfo("UTC"))


@pytest.mark.parametrize("text", ["1899-12", "9999-01", "2026-13", "2026-1", "2026-01-01", "", None, 202601])
def test_a_month_that_cannot_be_billed_names_its_field(text: object) -> None:
    """Usage, not a crash."""
    with pytest.raises(Malformed) as refusal:
        billing_month("month", text)
    assert refusal.value.field == "month"


def _each_day(run: Days) -> list[date]:
    return [run.first + timedelta(days=step) for step in range(run.count)]


def _is_left_out(left_out: date, zone: ZoneInfo) -> bool:
    """Whether the zone jumped over this day when it crossed the date line."""
    noon = datetime(left_out.year, left_out.month, left_out.day, 12, tzinfo=UTC)
    hours = (noon + timedelta(hours=step) for step in range(-38, 39))
    return left_out not in {business_date(moment, zone) for moment in hours}
