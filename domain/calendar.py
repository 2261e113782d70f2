"""The business calendar: days and months as the shop's time zone has them, computed once and stored."""

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Self

from domain.errors import Malformed

# RFC 3339: the offset is required, since a local time means nothing to a machine elsewhere.
_INSTANT: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)
_MONTH: Final = re.compile(r"(\d{4})-(\d{2})", re.ASCII)


def instant(field: str, value: object) -> datetime:
    """A point in time as RFC 3339 writes it.

    Units: microseconds; finer digits are cut.
    Raises: Malformed naming `field`.
    """
    match = _INSTANT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Malformed(field, "must be a time with an offset, such as 2026-10-03T12:34:56+09:00")
    day, hour, fraction, offset = match.groups()
    try:
        parsed = datetime.fromisoformat(
            f"{day}T{hour}.{(fraction or '0')[:6]:0<6}{offset.upper().replace('Z', '+00:00')}"
        )
        return parsed.astimezone(UTC)
    except (ValueError, OverflowError) as impossible:
        raise Malformed(field, f"is not a possible time: {impossible}") from None


def business_date(moment: datetime, zone: tzinfo) -> date:
    """The calendar day on which `moment` falls for the business."""
    return moment.astimezone(zone).date()


def start_of_day(day: date, zone: tzinfo) -> datetime:
    """The first instant that belongs to `day` in `zone`, in UTC.

    A midnight that does not exist gives the first instant after the gap, a doubled one its first occurrence,
    and a day the zone skipped whole (Apia, 2011-12-30) the start of the next.
    """
    # Bisection over instants: the local date never decreases by a whole day, so this also holds where
    # offsets are odd. 26 hours on either side cover every offset from -12 to +14.
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    before, after = noon - timedelta(hours=38), noon + timedelta(hours=38)
    while after - before > timedelta(microseconds=1):
        middle = before + (after - before) // 2
        if middle.astimezone(zone).date() < day:
            before = middle
        else:
            after = middle
    # Where clocks go back just after midnight the day begins twice, and bisection may have met the second time.
    return min(after, datetime.combine(day, time.min, zone).astimezone(UTC))


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A calendar month, written `2026-10`."""

    year: int
    number: int

    @classmethod
    def parse(cls, field: str, value: object) -> Self:
        """Raises: Malformed naming `field`."""
        match = _MONTH.fullmatch(value) if isinstance(value, str) else None
        if match is None or not 1 <= int(match[2]) <= 12 or int(match[1]) < 1:
            raise Malformed(field, "must be a month such as 2026-10")
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def of(cls, day: date) -> Self:
        """The month in which `day` lies."""
        return cls(day.year, day.month)

    def plus(self, months: int) -> Self:
        """The month that many months later (earlier, when negative)."""
        index = self.year * 12 + self.number - 1 + months
        return type(self)(index // 12, index % 12 + 1)

    @property
    def first_day(self) -> date:
        return date(self.year, self.number, 1)

    @property
    def last_day(self) -> date:
        return self.closing_date(31)

    def closing_date(self, closing_day: int) -> date:
        """The day on which this month's period ends: `closing_day`, or the last day of a shorter month."""
        return date(self.year, self.number, min(closing_day, calendar.monthrange(self.year, self.number)[1]))

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"


def last_valid_date(granted: datetime, valid_months: int, zone: tzinfo) -> date:
    """The last day on which points granted at `granted` can be spent: the end of a month, `valid_months` later."""
    return Month.of(business_date(granted, zone)).plus(valid_months).last_day
