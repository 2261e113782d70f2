"""A month's bill: its lines, its total, and how it is settled (B15, B18)."""

from dataclasses import replace
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.billing.bills import MINIMUM_CHARGE, Account, Bill, Carried, LineKind, Settlement, bill_of
from domain.billing.plans import Item, Subscription, Tax
from domain.calendar import Month
from domain.errors import Refused
from domain.money import MAX_AMOUNT, Money, Rounding
from tests.domain.billing.samples import EIGHT, TEN, TEN_INCLUDED, day, days, item, month, subscription

OCTOBER: Final = month("2026-10")
NOVEMBER: Final = month("2026-11")
PAYER: Final = Account("c-1", payment_method="pm_card_visa", payment_customer="cus_1")
CURRENCIES = st.sampled_from(["JPY", "USD", "KWD"])
DATES = st.dates(day("2026-09-01"), day("2026-12-31"))
TAXES = st.builds(Tax, st.sampled_from([0, 80_000, 82_500, 100_000]), st.booleans())


def billed(account: Account, of: Month = OCTOBER, rounding: Rounding = Rounding.FLOOR) -> Bill:
    """The bill that there must be."""
    bill = bill_of(account, of, rounding)
    assert bill is not None
    return bill


def amounts(bill: Bill) -> list[tuple[str, str, int]]:
    return [(str(line.kind), line.source, line.amount) for line in bill.lines]


@st.composite
def accounts(draw: st.DrawFn) -> Account:
    """Somebody with anything to bill, of one currency."""
    currency = draw(CURRENCIES)
    money = st.integers(0, 10**12).map(lambda amount: Money(amount, currency))
    starts = draw(st.lists(st.tuples(DATES, st.none() | st.integers(0, 60)), max_size=3))
    return replace(
        PAYER,
        closing_day=draw(st.integers(1, 31)),
        subscriptions=[
            Subscription(
                f"s-{n}", "c-1", "gold", draw(money), draw(TAXES), start,
                None if length is None else start.fromordinal(start.toordinal() + length),
            )
            for n, (start, length) in enumerate(starts)
        ],
        items=[
            Item(f"i-{n}", "c-1", draw(DATES), "?", Money(draw(st.integers(-(10**9), 10**9)), currency), draw(TAXES))
            for n in range(draw(st.integers(0, 4)))
        ],
        carried=[Carried(month("2026-09"), amount, currency) for amount in draw(st.lists(st.integers(-99, 49)))],
    )  # fmt: skip


@settings(max_examples=200)
@given(accounts(), st.sampled_from(Rounding))
def test_a_total_is_its_lines_and_the_taxes_on_top(account: Account, rounding: Rounding) -> None:
    """Whole minor units throughout, in the customer's one currency."""
    bill = bill_of(account, OCTOBER, rounding)
    if bill is None:
        return
    assert bill.total.amount == sum(line.amount for line in bill.lines) + bill.taxes.added
    assert bill.total.amount == sum(rate.gross for rate in bill.taxes.rates)
    assert {type(number) for number in (bill.total.amount, *(line.amount for line in bill.lines))} == {int}
    assert {one.price.currency for one in account.items} <= {bill.total.currency}
    assert len(bill.taxes.shares) == len(bill.lines)


@settings(max_examples=200)
@given(accounts())
def test_a_line_of_a_subscription_lies_in_the_bills_period(account: Account) -> None:
    """And an item is dated up to its end."""
    bill = bill_of(account, OCTOBER, Rounding.FLOOR)
    if bill is None:
        return
    ends = [line.days.last for line in bill.lines if line.days is not None]
    starts = [line.days.first for line in bill.lines if line.days is not None and line.kind is LineKind.SUBSCRIPTION]
    assert all(end <= bill.period.last for end in ends)
    assert all(start >= bill.period.first for start in starts)


def test_nothing_due_is_no_bill() -> None:
    """A subscription that ended, one that is to come, and an item of next month make none."""
    past, coming = subscription(end="2026-10-31"), subscription("s-2", start="2026-12-01")
    account = replace(PAYER, subscriptions=[past, coming], items=[item(on="2026-12-01")])
    assert bill_of(PAYER, OCTOBER, Rounding.FLOOR) is None
    assert bill_of(account, NOVEMBER, Rounding.FLOOR) is None


def test_a_bill_says_who_pays_and_for_which_days() -> None:
    """Frozen with the bill: the payment method, and the payer's id at the provider."""
    bill = billed(replace(PAYER, subscriptions=[subscription(tax=TEN)]))
    assert (bill.customer_id, bill.month, bill.period) == ("c-1", OCTOBER, days("2026-10-01", "2026-10-31"))
    assert (bill.payment_method, bill.payment_customer, bill.total) == ("pm_card_visa", "cus_1", Money(3410, "JPY"))
    assert bill.lines[0].days == bill.period
    assert bill.lines[0].text == "gold"


def test_the_first_and_the_last_period_are_billed_in_part() -> None:
    """From the start date to the end date, both included."""
    account = replace(PAYER, subscriptions=[subscription(start="2026-10-22", end="2026-11-01")])
    assert amounts(billed(account)) == [("subscription", "s-1", 1000)]
    assert billed(account, NOVEMBER).lines[0].days == days("2026-11-01", "2026-11-01")


@pytest.mark.parametrize(
    ("rounding", "end", "amount"),
    [
        (Rounding.FLOOR, "2026-11-02", 206),
        (Rounding.HALF_UP, "2026-11-01", 103),
        (Rounding.HALF_UP, "2026-11-02", 207),
        (Rounding.CEIL, "2026-11-01", 104),
    ],
)
def test_a_line_is_rounded_as_the_terms_say(rounding: Rounding, end: str, amount: int) -> None:
    """One day of November at 3,100 is 103.33, two are 206.67."""
    account = replace(PAYER, subscriptions=[subscription(end=end)])
    assert amounts(billed(account, NOVEMBER, rounding)) == [("subscription", "s-1", amount)]


@pytest.mark.parametrize(
    ("closing_day", "of", "first", "last"),
    [
        (30, "2026-02", "2026-01-31", "2026-02-28"),
        (31, "2026-02", "2026-02-01", "2026-02-28"),
        (30, "2024-02", "2024-01-31", "2024-02-29"),
        (31, "2024-02", "2024-02-01", "2024-02-29"),
    ],
)
def test_a_february_costs_what_any_month_costs(closing_day: int, of: str, first: str, last: str) -> None:
    """A closing day it does not have is its last day, and the whole period stays whole."""
    bill = billed(replace(PAYER, closing_day=closing_day, subscriptions=[subscription(start="2020-01-01")]), month(of))
    assert (bill.period, bill.total.amount) == (days(first, last), 3100)


@pytest.mark.parametrize(("on", "sources"), [("2026-08-01", ["i-1"]), ("2026-10-20", ["i-1"]), ("2026-10-21", [])])
def test_items_dated_up_to_the_end_of_the_period_join(on: str, sources: list[str]) -> None:
    """Also old ones that were not billed yet."""
    bill = bill_of(replace(PAYER, closing_day=20, items=[item(on=on)]), OCTOBER, Rounding.FLOOR)
    assert [line.source for line in (bill.lines if bill else ())] == sources


def test_credits_and_charges_of_one_rate_are_taxed_together() -> None:
    """1,005 less 110 at 10 %, and 99 at 8 %: 89 and 7, not 100 - 11 and 7."""
    account = replace(
        PAYER,
        items=[item("i-1", 1005, tax=TEN), item("i-2", -110, tax=TEN), item("i-3", 99, tax=EIGHT)],
    )
    bill = billed(account)
    assert [(rate.ppm, rate.tax) for rate in bill.taxes.rates] == [(80_000, 7), (100_000, 89)]
    assert bill.total.amount == 1005 - 110 + 99 + 7 + 89


@pytest.mark.parametrize(
    ("amount", "currency", "settlement"),
    [
        (0, "JPY", Settlement.NOTHING),
        (30, "JPY", Settlement.CARRIED),
        (49, "JPY", Settlement.CARRIED),
        (50, "JPY", Settlement.CHARGE),
        (-500, "JPY", Settlement.CARRIED),
        (49, "USD", Settlement.CARRIED),
        (50, "USD", Settlement.CHARGE),
        (29, "GBP", Settlement.CARRIED),
        (1, "KWD", Settlement.CHARGE),  # no minimum is published
        (0, "KWD", Settlement.NOTHING),
        (-1, "KWD", Settlement.CARRIED),
    ],
)
def test_a_bill_is_settled_by_its_sign_and_the_providers_minimum(
    amount: int, currency: str, settlement: Settlement
) -> None:
    """Zero without a call, too little onto the next bill (B15a, B15b, B15d)."""
    assert billed(replace(PAYER, items=[item(amount=amount, currency=currency)])).settlement is settlement


@given(st.sampled_from(sorted(MINIMUM_CHARGE)))
def test_the_minimum_itself_can_be_charged(currency: str) -> None:
    """One unit less cannot."""
    least = MINIMUM_CHARGE[currency]
    bill = billed(replace(PAYER, items=[item(amount=least, currency=currency)]))
    assert bill.settlement is Settlement.CHARGE
    assert replace(bill, total=Money(least - 1, currency)).settlement is Settlement.CARRIED


def test_the_minimum_is_of_the_total_with_tax() -> None:
    """46 yen and 10 % are 50."""
    assert billed(replace(PAYER, items=[item(amount=46, tax=TEN)])).settlement is Settlement.CHARGE
    assert billed(replace(PAYER, items=[item(amount=45, tax=TEN)])).settlement is Settlement.CARRIED


def test_what_was_carried_is_not_taxed_again() -> None:
    """30 yen of October and 980 of November are one charge of 1,010 (B15b)."""
    carried = [Carried(OCTOBER, 30, "JPY")]
    bill = billed(
        replace(PAYER, items=[item(amount=980, on="2026-11-02", tax=TEN_INCLUDED)], carried=carried), NOVEMBER
    )
    assert amounts(bill) == [("item", "i-1", 980), ("carried", "2026-10", 30)]
    assert (bill.total.amount, bill.taxes.tax, bill.taxes.shares) == (1010, 89, (89, 0))


def test_a_carried_total_alone_makes_a_bill() -> None:
    """And is carried on while it is too small: nobody is forgotten."""
    bill = billed(replace(PAYER, carried=[Carried(month("2026-08"), 30, "JPY"), Carried(month("2026-09"), 19, "JPY")]))
    assert (bill.total.amount, bill.settlement) == (49, Settlement.CARRIED)


def test_a_credit_that_was_carried_lowers_the_next_charge() -> None:
    """Credits that exceed charges are kept (B15d)."""
    account = replace(PAYER, subscriptions=[subscription()], carried=[Carried(month("2026-09"), -500, "JPY")])
    assert billed(account).total.amount == 2600


def test_a_free_plan_and_a_paid_one_of_the_same_day_are_one_bill() -> None:
    """Neither is lost, and the paid price is charged once (B15c)."""
    free = subscription("s-free", 0, "2018-02-26", "2018-02-26", currency="KRW")
    paid = subscription("s-paid", 30_000, "2018-02-26", currency="KRW")
    bill = billed(replace(PAYER, closing_day=25, subscriptions=[free, paid]), month("2018-03"))
    assert amounts(bill) == [("subscription", "s-free", 0), ("subscription", "s-paid", 30_000)]
    assert (bill.total, bill.settlement) == (Money(30_000, "KRW"), Settlement.CHARGE)


def test_a_free_plan_alone_is_a_bill_of_nothing() -> None:
    """Settled without a payment method."""
    bill = billed(Account("c-1", subscriptions=[subscription(price=0)]))
    assert (bill.total.amount, bill.settlement) == (0, Settlement.NOTHING)


@pytest.mark.parametrize(
    "account",
    [
        replace(PAYER, subscriptions=[subscription()], items=[item(currency="USD")]),
        replace(PAYER, subscriptions=[subscription(), subscription("s-2", currency="USD")]),
        replace(PAYER, items=[item()], carried=[Carried(month("2026-09"), 30, "USD")]),
    ],
)
def test_two_currencies_are_refused_by_name(account: Account) -> None:
    """A sum of yen and dollars is no amount."""
    with pytest.raises(Refused, match="JPY and USD"):
        bill_of(account, OCTOBER, Rounding.FLOOR)


def test_a_total_of_more_than_64_bits_is_refused() -> None:
    """Of either sign; the largest that fits is billed."""
    most = replace(PAYER, items=[item(amount=MAX_AMOUNT)])
    assert billed(most).total.amount == MAX_AMOUNT
    assert billed(replace(PAYER, items=[item(amount=-MAX_AMOUNT)])).total.amount == -MAX_AMOUNT
    for amount in (MAX_AMOUNT, -MAX_AMOUNT):
        one_more = item("i-2", 1 if amount > 0 else -1)
        with pytest.raises(Refused, match="64 bits"):
            bill_of(replace(PAYER, items=[item(amount=amount), one_more]), OCTOBER, Rounding.FLOOR)
    with pytest.raises(Refused, match="64 bits"):
        bill_of(replace(PAYER, items=[item(amount=MAX_AMOUNT, tax=TEN)]), OCTOBER, Rounding.FLOOR)


def test_who_has_something_to_pay_needs_a_payment_method() -> None:
    """The refusal says how much."""
    with pytest.raises(Refused, match="payment_method, and 3100 JPY"):
        bill_of(Account("c-1", subscriptions=[subscription()]), OCTOBER, Rounding.FLOOR)


@pytest.mark.parametrize("amount", [0, 49, -500])
def test_who_has_nothing_to_pay_now_needs_no_payment_method(amount: int) -> None:
    """A credit is kept for those, too."""
    assert billed(Account("c-1", items=[item(amount=amount)])).payment_method is None


@given(st.integers(1, 10_000))
def test_a_price_in_cents_is_the_total_in_cents(cents: int) -> None:
    """No price up to 100.00 loses a cent on its way (B18: int(x * 100) is wrong for 573 of them)."""
    bill = billed(replace(PAYER, subscriptions=[subscription(price=cents, tax=TEN_INCLUDED, currency="USD")]))
    assert bill.total == Money(cents, "USD")


@given(st.integers(0, 10**9), TAXES, st.sampled_from(Rounding))
def test_a_bill_is_mirrored_by_its_credit(amount: int, tax: Tax, rounding: Rounding) -> None:
    """What was billed, credited in full, is the same total with the other sign."""
    charge = billed(replace(PAYER, items=[item(amount=amount, tax=tax)]), rounding=rounding)
    credit = billed(replace(PAYER, items=[item(amount=-amount, tax=tax)]), rounding=rounding)
    assert credit.total.amount == -charge.total.amount
    exact = Fraction(amount) if tax.included else amount * (1 + Fraction(tax.ppm, 10**6))
    assert abs(charge.total.amount - exact) < 1
