"""What is billed: subscriptions month by month, and items once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, Self

from domain.billing.periods import Days
from domain.errors import Conflict, Malformed
from domain.keys import clean_text, identifier
from domain.money import MAX_AMOUNT, Money

MAX_TEXT_CHARACTERS: Final = 200  # a line of a bill
PARTS_PER_PERCENT: Final = 10_000
_PERCENT: Final = re.compile(r"(\d{1,3})(?:\.(\d{1,4}))?", re.ASCII)
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Tax:
    """How a price is taxed. Units: `ppm` in parts per million of the net price (10 % = 100,000)."""

    ppm: int
    included: bool

    @property
    def percent(self) -> str:
        """The rate as people write it: 10, 8.25."""
        whole, rest = divmod(self.ppm, PARTS_PER_PERCENT)
        return f"{whole}.{rest:04}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Subscription:
    """A plan that a customer has, from `start` to `end`, both included. Units: `price` minor units per period."""

    subscription_id: str
    customer_id: str
    plan: str
    price: Money
    tax: Tax
    start: date
    end: date | None = None

    @property
    def days(self) -> Days:
        return Days(self.start, self.end or date.max)

    def changed_to(self, other: Self, billed_through: date | None) -> Self:
        """This subscription with the other's end, the one thing that may change, but never before a billed day.

        Raises: Conflict where anything else differs, Malformed naming `end`.
        """
        if replace(other, end=self.end) != self:
            raise Conflict(f"subscription {self.subscription_id} is known with other content; only its end may change")
        if other.end is not None and billed_through is not None and other.end < billed_through:
            raise Malformed("end", f"must not be before {billed_through}, the last day that is billed")
        return other


@dataclass(frozen=True, slots=True)
class Item:
    """Something billed once, with the first bill whose period ends on its date or later. May be a credit."""

    item_id: str
    customer_id: str
    date: date
    description: str
    price: Money
    tax: Tax


def read_subscription(row: Mapping[str, Any]) -> Subscription:
    """A subscription as a file tells it. Raises: Malformed naming the field."""
    start, end = _day("start", row.get("start")), row.get("end")
    subscription = Subscription(
        identifier("subscription_id", row.get("subscription_id")),
        identifier("customer_id", row.get("customer_id")),
        _text("plan", row.get("plan")),
        Money.parse(row.get("price"), row.get("currency"), amount_field="price"),
        _tax(row),
        start,
        None if end is None or end == "" else _day("end", end),
    )
    if subscription.end is not None and subscription.end < start:
        raise Malformed("end", f"must not be before the start, {start}")
    return subscription


def read_item(row: Mapping[str, Any]) -> Item:
    """An item as a file tells it; its amount may be negative. Raises: Malformed naming the field."""
    amount = row.get("amount")
    if isinstance(amount, bool) or not isinstance(amount, int) or abs(amount) > MAX_AMOUNT:
        raise Malformed("amount", "must be a whole number of minor units")
    size = Money.parse(abs(amount), row.get("currency"))
    return Item(
        identifier("item_id", row.get("item_id")),
        identifier("customer_id", row.get("customer_id")),
        _day("date", row.get("date")),
        _text("description", row.get("description")),
        Money(amount, size.currency),
        _tax(row),
    )


def _tax(row: Mapping[str, Any]) -> Tax:
    included = row.get("tax_included")
    if isinstance(included, str):
        included = {"true": True, "1": True, "false": False, "0": False}.get(included.lower())
    if not isinstance(included, bool):
        raise Malformed("tax_included", "must be true or false")
    return Tax(_ppm(row.get("tax_rate")), included)


def _ppm(value: object) -> int:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    match = _PERCENT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise Malformed("tax_rate", "must be a percentage such as 10 or 8.25, as a string where it has a fraction")
    ppm = int(match[1]) * PARTS_PER_PERCENT + int((match[2] or "").ljust(4, "0"))
    if ppm > 100 * PARTS_PER_PERCENT:
        raise Malformed("tax_rate", "must be at most 100")
    return ppm


def _day(field: str, value: object) -> date:
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        raise Malformed(field, "must be a day such as 2026-10-31")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise Malformed(field, f"is not a day of the calendar: {value}") from None


def _text(field: str, value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_TEXT_CHARACTERS:
        raise Malformed(field, f"must be a string of 1 to {MAX_TEXT_CHARACTERS} characters")
    return clean_text(field, value)
