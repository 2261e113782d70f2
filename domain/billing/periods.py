"""Billing periods: each ends on the customer's closing day and begins the day after the one before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final

from domain.calendar import Month, start_of_day
from domain.errors import Malformed

ONE_DAY: Final = timedelta(days=1)
# What every store and every calendar in use can hold, with a month to spare on either side.
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 9998


@dataclass(frozen=True, slots=True, order=True)
class Days:
    """A run of calendar days, the first and the last included."""

    first: date
    last: date

    @property
    def count(self) -> int:
        return self.last.toordinal() - self.first.toordinal() + 1

    def within(self, other: "Days") -> "Days | None":
        """The days that both have."""
        first, last = max(self.first, other.first), min(self.last, other.last)
        return Days(first, last) if first <= last else None

    def without(self, taken: Sequence["Days"]) -> Iterator["Days"]:
        """What is left of these days, in order."""
        first = self.first
        for other in sorted(taken):
            if other.last < first or other.first > self.last:
                continue
            if other.first > first:
                yield Days(first, other.first - ONE_DAY)
            first = other.last + ONE_DAY
        if first <= self.last:
            yield Days(first, self.last)

    def __str__(self) -> str:
        return f"{self.first}..{self.last}"


def billing_month(field: str, value: object) -> Month:
    """A month that can be billed. Raises: Malformed naming `field`."""
    month = Month.parse(field, value)
    if not FIRST_YEAR <= month.year <= LAST_YEAR:
        raise Malformed(field, f"must be a month of the years {FIRST_YEAR} to {LAST_YEAR}")
    return month


def period_of(month: Month, closing_day: int, billed: Mapping[Month, Days]) -> Days:
    """The period that `month` bills, next to the neighbours as they were billed, or as they would be.

    So periods tile, whenever the closing day changes and in whatever order months are billed.
    """
    before, after = (billed.get(month.plus(-1)), billed.get(month.plus(1))) if billed else (None, None)
    return _between(month, closing_day, before, after)


@lru_cache(maxsize=1024)  # nearly all customers of a run have one of a few
def _between(month: Month, closing_day: int, before: Days | None, after: Days | None) -> Days:
    end_before = month.plus(-1).closing_date(closing_day) if before is None else before.last
    last = month.closing_date(closing_day) if after is None else after.first - ONE_DAY
    return Days(end_before + ONE_DAY, last)


def ended_at(month: Month, closing_day: int, zone: tzinfo) -> datetime:
    """The first instant after the month's period, for the business."""
    return start_of_day(month.closing_date(closing_day) + ONE_DAY, zone)
