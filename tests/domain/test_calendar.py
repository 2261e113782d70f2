"""Days and months of the business zone, also where midnight is missing or comes twice (B14)."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.calendar import Month, business_date, instant, last_valid_date, start_of_day
from domain.errors import Malformed

ZONES = st.sampled_from(
    ["Asia/Tokyo", "America/New_York", "America/Havana", "America/Asuncion", "Pacific/Apia", "Pacific/Kiritimati",
     "Pacific/Pago_Pago", "Europe/London", "Australia/Lord_Howe", "Asia/Kathmandu"]
)  # fmt: skip
DAYS = st.dates(min_value=date(1980, 1, 1), max_value=date(2080, 1, 1))


@pytest.mark.parametrize(
    ("zone", "day", "start"),
    [
        ("Asia/Tokyo", date(2026, 10, 3), "2026-10-02T15:00:00+00:00"),
        ("America/Havana", date(2026, 11, 1), "2026-11-01T04:00:00+00:00"),  # midnight comes twice: the first
        ("America/Asuncion", date(2017, 10, 1), "2017-10-01T04:00:00+00:00"),  # no midnight: 01:00 is the first instant
        ("Pacific/Apia", date(2011, 12, 30), "2011-12-30T10:00:00+00:00"),  # a day that was left out: the next one's
        ("Pacific/Kiritimati", date(2023, 3, 1), "2023-02-28T10:00:00+00:00"),
        ("Pacific/Pago_Pago", date(2023, 3, 1), "2023-03-01T11:00:00+00:00"),
    ],
)
def test_a_day_begins_where_its_zone_says(zone: str, day: date, start: str) -> None:
    """Known boundaries of zones that make it hard."""
    assert start_of_day(day, ZoneInfo(zone)) == datetime.fromisoformat(start)


@given(DAYS, ZONES)
def test_days_follow_one_another_without_gap_or_overlap(day: date, zone: str) -> None:
    """The instant before a day's start belongs to an earlier day, the start itself to none before."""
    start = start_of_day(day, ZoneInfo(zone))
    assert business_date(start, ZoneInfo(zone)) >= day
    assert business_date(start - timedelta(microseconds=1), ZoneInfo(zone)) < day
    assert start <= start_of_day(day + timedelta(days=1), ZoneInfo(zone))


@given(st.integers(1, 9000), st.integers(1, 12), st.integers(-100, 100))
def test_months_are_counted_without_losing_any(year: int, number: int, months: int) -> None:
    """There and back again is the same month."""
    month = Month(year + 100, number)
    assert month.plus(months).plus(-months) == month
    assert month.plus(1).first_day == month.last_day + timedelta(days=1)


@pytest.mark.parametrize(
    "text", ["2026-13", "2026-0", "26-10", "2026-10-01", "2026/10", 202610, None, "２０２６-10", "0000-01"]
)
def test_a_month_is_written_in_one_way(text: object) -> None:
    """Anything else names the field."""
    with pytest.raises(Malformed, match="month"):
        Month.parse("month", text)


def test_a_closing_day_is_the_last_day_of_a_shorter_month() -> None:
    """The 31st of February is its last day, also in a leap year."""
    assert str(Month.parse("month", "2026-10")) == "2026-10"
    assert Month(2024, 2).closing_date(31) == date(2024, 2, 29)
    assert Month(2026, 2).closing_date(30) == date(2026, 2, 28)
    assert Month(2026, 2).closing_date(15) == date(2026, 2, 15)


@pytest.mark.parametrize(
    ("granted", "zone", "last"),
    [
        ("2026-10-03T12:34:56+09:00", "Asia/Tokyo", date(2027, 10, 31)),
        ("2026-10-31T23:59:59+09:00", "Asia/Tokyo", date(2027, 10, 31)),
        ("2026-10-31T15:00:00+00:00", "Asia/Tokyo", date(2027, 11, 30)),  # 1 November in Tokyo
        ("2027-02-28T12:00:00+09:00", "Asia/Tokyo", date(2028, 2, 29)),
    ],
)
def test_points_are_valid_to_the_end_of_a_month_of_the_business_zone(granted: str, zone: str, last: date) -> None:
    """Twelve months after the event's own month, wherever the server stands."""
    assert last_valid_date(datetime.fromisoformat(granted), 12, ZoneInfo(zone)) == last


@pytest.mark.parametrize(
    "text",
    ["2026-10-03T12:34:56", "2026-10-03", "yesterday", 1, None, "2026-13-03T00:00:00Z", "2026-10-03T25:00:00Z",
     "2026-10-03T12:34:56+99:00", "2026-10-03 12:34:56+09:00", "0001-01-01T00:00:00+14:00", "２０26-10-03T12:34:56Z"],
)  # fmt: skip
def test_a_time_needs_an_offset_and_to_be_possible(text: object) -> None:
    """A local time means nothing to a machine elsewhere."""
    with pytest.raises(Malformed, match="time"):
        instant("time", text)


def test_times_are_compared_as_instants() -> None:
    """Two ways to write one moment are one moment; nanoseconds are cut."""
    assert instant("time", "2026-10-03T12:34:56+09:00") == instant("time", "2026-10-03t03:34:56.000z")
    assert instant("time", "2026-10-03T12:34:56.123456789Z") == datetime(2026, 10, 3, 12, 34, 56, 123456, UTC)
