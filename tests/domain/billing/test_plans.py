"""Subscriptions and items as files tell them: whatever is wrong is named by its field, with nothing stored."""

from dataclasses import replace
from datetime import date
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.billing.plans import Tax, read_item, read_subscription
from domain.errors import Conflict, Malformed
from domain.money import MAX_AMOUNT, Money
from tests.domain.billing.samples import day, subscription

SUBSCRIPTION: Final[dict[str, Any]] = {
    "subscription_id": "s-1", "customer_id": "c-1", "plan": "gold", "price": 980, "currency": "JPY",
    "tax_rate": "10", "tax_included": True, "start": "2026-10-01", "end": "2027-02-28",
}  # fmt: skip
ITEM: Final[dict[str, Any]] = {
    "item_id": "i-1", "customer_id": "c-1", "date": "2026-10-15", "description": "初期費用", "amount": -500,
    "currency": "JPY", "tax_rate": "8.25", "tax_included": False,
}  # fmt: skip

NO_AMOUNTS: Final[list[object]] = [
    9.8,
    980.0,
    True,
    "980",
    "1e3",
    None,
    float("nan"),
    float("inf"),
    MAX_AMOUNT + 1,
    [980],
]
NO_IDS: Final = ["", " s-1", "s-1\n", "s\x001", "s" * 129, 1.5, True, None, -1, "\ud800"]
NO_CURRENCIES: Final = ["jpy", "YEN", "", None, 392, "XAU", "JPY "]
NO_TEXTS: Final = ["", None, 7, "gold\x00", "gold\nsilver", "g" * 201, "\ud800", True]
NO_DAYS: Final = [
    None, "", "2026-02-30", "2026-2-3", "20261001", "2026-10-01T00:00:00", "10/01/2026", 20261001, "２０２６-10-01",
    "2025-02-29", "0000-01-01", " 2026-10-01", "2026-W40-4", True,
]  # fmt: skip
NO_RATES: Final = [
    8.25, 10.0, True, None, "", "abc", "-1", -1, "100.0001", 101, "1e1", "10%", " 10", "8,25", "8.", ".5", "8.25001",
    "NaN", "٨", "1000",
]  # fmt: skip
NO_ANSWERS: Final[list[object]] = [None, "", "yes", 1, 0, "on", 1.0, "tru", []]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("subscription_id", value) for value in NO_IDS),
        *(("customer_id", value) for value in NO_IDS),
        *(("plan", value) for value in NO_TEXTS),
        *(("price", value) for value in [*NO_AMOUNTS, -1]),
        *(("currency", value) for value in NO_CURRENCIES),
        *(("tax_rate", value) for value in NO_RATES),
        *(("tax_included", value) for value in NO_ANSWERS),
        *(("start", value) for value in NO_DAYS),
        *(("end", value) for value in NO_DAYS if value not in (None, "")),
        ("end", "2026-09-30"),  # before the start
    ],
)
def test_a_bad_subscription_names_the_field(field: str, value: object) -> None:
    """Floats, booleans, exponents, impossible days and control characters (B09, B18)."""
    with pytest.raises(Malformed) as refusal:
        read_subscription(SUBSCRIPTION | {field: value})
    assert refusal.value.field == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("item_id", value) for value in NO_IDS),
        *(("customer_id", value) for value in NO_IDS),
        *(("date", value) for value in NO_DAYS),
        *(("description", value) for value in NO_TEXTS),
        *(("amount", value) for value in [*NO_AMOUNTS, -MAX_AMOUNT - 1]),
        *(("currency", value) for value in NO_CURRENCIES),
        *(("tax_rate", value) for value in NO_RATES),
        *(("tax_included", value) for value in NO_ANSWERS),
    ],
)
def test_a_bad_item_names_the_field(field: str, value: object) -> None:
    """The same for what is billed once."""
    with pytest.raises(Malformed) as refusal:
        read_item(ITEM | {field: value})
    assert refusal.value.field == field


@pytest.mark.parametrize("field", sorted(set(SUBSCRIPTION) - {"end"}))
def test_a_missing_field_of_a_subscription_is_named(field: str) -> None:
    """Nothing but the end may be left out."""
    with pytest.raises(Malformed) as refusal:
        read_subscription({name: value for name, value in SUBSCRIPTION.items() if name != field})
    assert refusal.value.field == field


@pytest.mark.parametrize("field", sorted(ITEM))
def test_a_missing_field_of_an_item_is_named(field: str) -> None:
    """Nothing may be left out."""
    with pytest.raises(Malformed) as refusal:
        read_item({name: value for name, value in ITEM.items() if name != field})
    assert refusal.value.field == field


def test_a_subscription_is_read_whole() -> None:
    """Each column where it belongs."""
    read = read_subscription(SUBSCRIPTION)
    assert (read.subscription_id, read.customer_id, read.plan) == ("s-1", "c-1", "gold")
    assert (read.price, read.tax) == (Money(980, "JPY"), Tax(100_000, included=True))
    assert (read.start, read.end) == (date(2026, 10, 1), date(2027, 2, 28))


def test_an_item_is_read_whole_and_may_be_a_credit() -> None:
    """Each column where it belongs, and the amount with its sign."""
    read = read_item(ITEM)
    assert (read.item_id, read.customer_id, read.date) == ("i-1", "c-1", date(2026, 10, 15))
    assert (read.description, read.price) == ("初期費用", Money(-500, "JPY"))
    assert read.tax == Tax(82_500, included=False)


@given(st.integers(-MAX_AMOUNT, MAX_AMOUNT))
def test_every_amount_of_64_bits_is_read_as_it_is(amount: int) -> None:
    """Of either sign; zero as well."""
    assert read_item(ITEM | {"amount": amount}).price.amount == amount
    assert read_subscription(SUBSCRIPTION | {"price": abs(amount)}).price.amount == abs(amount)


@pytest.mark.parametrize("end", [None, ""])
def test_an_empty_end_is_open(end: str | None) -> None:
    """Every day from the start on."""
    read = read_subscription(SUBSCRIPTION | {"end": end})
    assert read.end is None
    assert read.days.last == date.max


def test_a_subscription_may_have_one_day() -> None:
    """Its last day is included."""
    assert read_subscription(SUBSCRIPTION | {"end": "2026-10-01"}).days.count == 1


def test_ids_are_taken_as_contexts_everywhere_take_them() -> None:
    """A whole number counts as its digits, and composed letters as one."""
    read = read_subscription(SUBSCRIPTION | {"subscription_id": 11497, "customer_id": "ga\u0308rtner"})
    assert (read.subscription_id, read.customer_id) == ("11497", "g\u00e4rtner")


@pytest.mark.parametrize(
    ("rate", "ppm", "percent"),
    [
        (0, 0, "0"),
        ("0", 0, "0"),
        (8, 80_000, "8"),
        ("10", 100_000, "10"),
        ("10.0", 100_000, "10"),
        ("8.25", 82_500, "8.25"),
        ("7.7000", 77_000, "7.7"),
        ("0.0001", 1, "0.0001"),
        (100, 1_000_000, "100"),
        ("100.0000", 1_000_000, "100"),
    ],
)
def test_a_tax_rate_is_an_exact_percentage(rate: object, ppm: int, percent: str) -> None:
    """From nothing to everything, down to a ten-thousandth of a per cent; written back as people write it."""
    tax = read_item(ITEM | {"tax_rate": rate}).tax
    assert (tax.ppm, tax.percent) == (ppm, percent)


@pytest.mark.parametrize(
    ("value", "included"),
    [(True, True), ("true", True), ("TRUE", True), ("1", True), (False, False), ("false", False), ("0", False)],
)
def test_whether_tax_is_included_is_read_as_spreadsheets_write_it(value: object, included: bool) -> None:
    """In capitals, or as a digit."""
    assert read_item(ITEM | {"tax_included": value}).tax.included is included


@pytest.mark.parametrize("end", ["2026-10-31", "2026-11-30", None])
def test_an_end_may_be_moved_unless_its_days_are_billed(end: str | None) -> None:
    """To the last billed day at the earliest, or open again; to any day while nothing is billed."""
    known, told = subscription(end="2026-11-30"), subscription(end=end)
    assert known.changed_to(told, day("2026-10-31")) == told
    assert known.changed_to(subscription(end="2026-10-02"), None).end == day("2026-10-02")


def test_an_end_before_a_billed_day_is_refused() -> None:
    """The refusal says which day that is."""
    with pytest.raises(Malformed, match="2026-10-31") as refusal:
        subscription().changed_to(subscription(end="2026-10-30"), day("2026-10-31"))
    assert refusal.value.field == "end"


@pytest.mark.parametrize(
    "change",
    [
        {"price": Money(3101, "JPY")},
        {"price": Money(3100, "KRW")},
        {"plan": "silver"},
        {"customer_id": "c-2"},
        {"start": day("2026-10-02")},
        {"tax": Tax(0, included=True)},
        {"tax": Tax(1, included=False)},
    ],
)
def test_nothing_but_the_end_may_change(change: dict[str, Any]) -> None:
    """The first content stays, and the other is a conflict."""
    with pytest.raises(Conflict, match="s-1"):
        subscription().changed_to(replace(subscription(end="2026-12-31"), **change), None)
