"""A month's bill of one customer, drawn up from what is known of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final

from domain.billing.periods import Days, period_of
from domain.billing.plans import Item, Subscription, Tax
from domain.billing.prices import price_of_more_days
from domain.billing.taxes import Taxes, taxes_of
from domain.calendar import Month
from domain.errors import Refused
from domain.money import MAX_AMOUNT, Money, Rounding

UNTAXED: Final = Tax(0, included=True)
# The least that can be charged. Units: minor units; 1 where none is published.
# Source: docs.stripe.com/currencies, minimum and maximum charge amounts.
MINIMUM_CHARGE: Final[Mapping[str, int]] = {
    **dict.fromkeys(("AUD", "BRL", "CAD", "CHF", "EUR", "INR", "JPY", "NZD", "SGD", "USD"), 50),
    **{"AED": 200, "BGN": 100, "CZK": 1500, "DKK": 250, "GBP": 30, "HKD": 400, "HUF": 17_500, "MXN": 1000},
    **{"MYR": 200, "NOK": 300, "PLN": 200, "RON": 200, "SEK": 300, "THB": 1000},
}


class LineKind(StrEnum):
    SUBSCRIPTION = "subscription"
    ARREARS = "arrears"  # of a subscription that came to light after its period was billed
    ITEM = "item"
    CARRIED = "carried"  # from a bill that was too small to be charged, its tax paid for already


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a bill. `source` is the id of the subscription or item, or the month carried from."""

    kind: LineKind
    source: str
    text: str
    amount: int
    tax: Tax
    days: Days | None = None


class Settlement(StrEnum):
    """How a bill is settled."""

    CHARGE = "charge"
    NOTHING = "nothing"  # zero: settled without a call
    CARRIED = "carried"  # negative, or less than can be charged: onto the next bill


@dataclass(frozen=True, slots=True)
class Carried:
    """A total that was carried and is on no later bill yet."""

    month: Month
    amount: int
    currency: str


@dataclass(frozen=True, slots=True)
class Account:
    """What is known of a customer when a month is billed.

    `billed`: periods of bills there are (the neighbours of the month at least). `billed_days`: by subscription, what is
    on bills. `unsettled`: subscriptions that are new or changed since the customer's last bill, so that days of theirs
    in periods billed before may be missing; for customers that have any, `billed` and `billed_days` are complete.
    """

    customer_id: str
    closing_day: int = 31
    payment_method: str | None = None
    payment_customer: str | None = None
    subscriptions: Sequence[Subscription] = ()
    items: Sequence[Item] = ()
    carried: Sequence[Carried] = ()
    billed: Mapping[Month, Days] = field(default_factory=dict)
    billed_days: Mapping[str, Sequence[Days]] = field(default_factory=dict)
    unsettled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Bill:
    """A month's bill of one customer. Key: (customer_id, month)."""

    customer_id: str
    month: Month
    period: Days
    lines: tuple[Line, ...]
    taxes: Taxes
    total: Money
    payment_method: str | None = None
    payment_customer: str | None = None

    @property
    def settlement(self) -> Settlement:
        if self.total.amount == 0:
            return Settlement.NOTHING
        small = self.total.amount < MINIMUM_CHARGE.get(self.total.currency, 1)
        return Settlement.CARRIED if small else Settlement.CHARGE


def bill_number(year: int, number: int) -> str:
    """How a bill is numbered: without gaps in each year."""
    return f"{year}-{number:06}"


def bill_of(account: Account, month: Month, rounding: Rounding) -> Bill | None:
    """The customer's bill of a month; nothing where nothing is due.

    Raises: Refused, in words for the operator, where the customer cannot be billed.
    """
    period = period_of(month, account.closing_day, account.billed)
    lines = tuple(_lines(account, month, period, rounding))
    if not lines:
        return None
    currency = _currency(account)
    taxes = taxes_of(tuple((line.amount, line.tax) for line in lines), rounding)
    total = sum(line.amount for line in lines) + taxes.added
    if abs(total) > MAX_AMOUNT:
        raise Refused(f"the total, {total}, has more than 64 bits")
    paid_by = (account.payment_method, account.payment_customer)
    bill = Bill(account.customer_id, month, period, lines, taxes, Money(total, currency), *paid_by)
    if bill.settlement is Settlement.CHARGE and account.payment_method is None:
        raise Refused(f"has no payment_method, and {total} {currency} to pay")
    return bill


def _lines(account: Account, month: Month, period: Days, rounding: Rounding) -> Iterator[Line]:
    for one in account.subscriptions:
        yield from _subscription_lines(one, LineKind.SUBSCRIPTION, period, account, rounding)
        if one.subscription_id in account.unsettled:
            for billed_month, billed_period in sorted(account.billed.items()):
                if billed_month != month:
                    yield from _subscription_lines(one, LineKind.ARREARS, billed_period, account, rounding)
    for item in account.items:
        if item.date <= period.last:
            yield Line(LineKind.ITEM, item.item_id, item.description, item.price.amount, item.tax, _one(item.date))
    for carried in account.carried:
        yield Line(LineKind.CARRIED, str(carried.month), f"carried from {carried.month}", carried.amount, UNTAXED)


def _subscription_lines(
    subscription: Subscription, kind: LineKind, period: Days, account: Account, rounding: Rounding
) -> Iterator[Line]:
    """A line for each run of days of the period that the subscription has and no bill has yet."""
    own = subscription.days.within(period)
    if own is None:
        return
    billed = [
        part for days in account.billed_days.get(subscription.subscription_id, ()) if (part := days.within(period))
    ]
    for days in own.without(billed):
        exact = price_of_more_days(subscription.price.amount, days, period, billed)
        amount = rounding.apply(exact)
        yield Line(kind, subscription.subscription_id, subscription.plan, amount, subscription.tax, days)
        billed.append(days)


def _currency(account: Account) -> str:
    """Raises: Refused for more than one, since a customer has one currency."""
    found = {one.price.currency for one in account.subscriptions} | {one.price.currency for one in account.items}
    found |= {carried.currency for carried in account.carried}
    if len(found) != 1:
        raise Refused(f"has prices in {' and '.join(sorted(found))}, and a customer has one currency")
    return found.pop()


def _one(day: date) -> Days:
    return Days(day, day)
