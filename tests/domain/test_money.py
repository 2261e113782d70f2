"""Amounts are whole numbers of minor units, and rounding is written down."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Malformed, Refused
from domain.money import MINOR_DIGITS, Money, Rounding
from domain.points import earned_points, whole_points
from tests.domain.published import standard


@pytest.mark.parametrize("amount", [19.99, "1999", "1e3", 1999.0, True, None, -1, 2**63, float("inf"), float("nan")])
def test_an_amount_is_a_whole_number_of_minor_units(amount: object) -> None:
    """Floats, strings and what does not fit 64 bits are refused by name (B18)."""
    with pytest.raises(Malformed, match="total"):
        Money.parse(amount, "JPY", amount_field="total")


@pytest.mark.parametrize("currency", ["jpy", "YEN", "", None, 392, ["JPY"]])
def test_a_currency_is_an_iso_code(currency: object) -> None:
    """Anything else names the field."""
    with pytest.raises(Malformed, match="currency"):
        Money.parse(1, currency)


@pytest.mark.parametrize(("currency", "digits"), [("JPY", 0), ("USD", 2), ("KWD", 3), ("KRW", 0), ("EUR", 2)])
def test_each_currency_has_its_own_minor_unit(currency: str, digits: int) -> None:
    """Yen have none, dollars two digits, dinars three."""
    assert MINOR_DIGITS[currency] == digits
    assert Money(1234567, currency).whole_units == 1234567 // 10**digits


@pytest.mark.parametrize("digits", ["0", "2", "3"])
def test_every_currency_in_use_has_the_digits_of_the_standard(digits: str) -> None:
    """None is missing, none is too many, and none has others."""
    codes = " ".join(standard("currencies")[digits]).split()
    assert sorted(code for code, own in MINOR_DIGITS.items() if own == int(digits)) == codes


def test_what_is_no_currency_in_use_is_refused() -> None:
    """Metals, funds, units of account and the codes for tests."""
    for code in " ".join(standard("currencies")["no currency"]).split():
        with pytest.raises(Malformed, match="currency"):
            Money.parse(1, code)


def test_currencies_are_not_mixed() -> None:
    """A sum of two currencies is no amount."""
    assert Money(1, "JPY").plus(Money(2, "JPY")) == Money(3, "JPY")
    with pytest.raises(Refused, match="currency"):
        Money(1, "JPY").plus(Money(1, "USD"))


@pytest.mark.parametrize(
    ("rounding", "exact", "rounded"),
    [
        (Rounding.FLOOR, Fraction(3, 2), 1),
        (Rounding.FLOOR, Fraction(-3, 2), -1),
        (Rounding.HALF_UP, Fraction(3, 2), 2),
        (Rounding.HALF_UP, Fraction(-3, 2), -2),
        (Rounding.HALF_UP, Fraction(149, 100), 1),
        (Rounding.CEIL, Fraction(101, 100), 2),
        (Rounding.CEIL, Fraction(-101, 100), -2),
        (Rounding.CEIL, Fraction(2), 2),
    ],
)
def test_rounding_is_of_the_absolute_value(rounding: Rounding, exact: Fraction, rounded: int) -> None:
    """A refund of 1.5 is the mirror of a charge of 1.5."""
    assert rounding.apply(exact) == rounded


@given(st.sampled_from(Rounding), st.fractions())
def test_rounding_is_exact_for_whole_numbers_and_near_for_others(rounding: Rounding, exact: Fraction) -> None:
    """Never further away than one unit, and symmetric."""
    assert abs(rounding.apply(exact) - exact) < 1
    assert rounding.apply(-exact) == -rounding.apply(exact)
    assert rounding.apply(Fraction(int(exact))) == int(exact)


@pytest.mark.parametrize(
    ("amount", "currency", "percent", "points"),
    [
        (12000, "JPY", "1", 120),
        (199, "JPY", "1", 1),
        (1799, "USD", "1", 0),
        (19999, "USD", "1", 1),
        (1234567, "KWD", "1", 12),
        (99, "JPY", "0.5", 0),
        (1000, "JPY", "2.5", 25),
        (0, "JPY", "1", 0),
    ],
)
def test_points_are_earned_on_whole_currency_units(amount: int, currency: str, percent: str, points: int) -> None:
    """The rate on the total in whole units, rounded down."""
    assert earned_points(Money(amount, currency), Fraction(percent)) == points


@pytest.mark.parametrize("points", [-5, 1.5, "10", "1e3", True, None, 2**63, float("inf")])
def test_points_are_whole_and_not_negative(points: object) -> None:
    """Refused with the field named; never wrapped (B09)."""
    with pytest.raises(Malformed, match="points"):
        whole_points("points", points)


def test_the_largest_number_of_points_is_carried_exactly() -> None:
    """64 bits, and not one less."""
    assert whole_points("points", 2**63 - 1) == 2**63 - 1
