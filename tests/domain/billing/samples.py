"""Subscriptions, items and accounts as tests write them."""

from datetime import date
from typing import Final

from domain.billing.periods import Days
from domain.billing.plans import Item, Subscription, Tax
from domain.calendar import Month
from domain.money import Money

UNTAXED: Final = Tax(0, included=False)
TEN: Final = Tax(100_000, included=False)
TEN_INCLUDED: Final = Tax(100_000, included=True)
EIGHT: Final = Tax(80_000, included=False)


def day(text: str) -> date:
    return date.fromisoformat(text)


def month(text: str) -> Month:
    return Month.parse("month", text)


def days(first: str, last: str) -> Days:
    return Days(day(first), day(last))


def subscription(
    id_: str = "s-1",
    price: int = 3100,
    start: str = "2026-10-01",
    end: str | None = None,
    *,
    tax: Tax = UNTAXED,
    currency: str = "JPY",
) -> Subscription:
    """A subscription of customer c-1."""
    return Subscription(id_, "c-1", "gold", Money(price, currency), tax, day(start), day(end) if end else None)


def item(
    id_: str = "i-1", amount: int = 100, on: str = "2026-10-15", *, tax: Tax = UNTAXED, currency: str = "JPY"
) -> Item:
    """An item of customer c-1."""
    return Item(id_, "c-1", day(on), "setting up", Money(amount, currency), tax)
