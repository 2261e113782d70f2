"""Tax is rounded once per rate and bill, never per line (B17)."""

from fractions import Fraction
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.billing.plans import Tax
from domain.billing.taxes import taxes_of
from domain.money import Rounding
from tests.domain.billing.samples import EIGHT, TEN, TEN_INCLUDED
from tests.domain.published import published, source_of

WHOLE: Final = 1_000_000
ROUNDINGS = st.sampled_from(Rounding)
AMOUNTS = st.integers(-100_000, 100_000) | st.integers(-(2**62), 2**62)
RATES = st.sampled_from([0, 1, 50_000, 80_000, 82_500, 100_000, 220_000, 1_000_000])
TAXES = st.builds(Tax, RATES, st.booleans())
LINES = st.lists(st.tuples(AMOUNTS, TAXES), max_size=8).map(tuple)
CHARGED = st.lists(st.tuples(st.integers(0, 2**62), TAXES), max_size=8).map(tuple)

Lines = tuple[tuple[int, Tax], ...]


def exact(amount: int, tax: Tax) -> Fraction:
    """The tax by the book: on top of a net price, or what a gross one holds."""
    rate = Fraction(tax.ppm, WHOLE)
    return amount - amount / (1 + rate) if tax.included else amount * rate


@pytest.mark.parametrize("example", published("taxes"), ids=source_of)
def test_taxes_are_as_published(example: dict[str, Any]) -> None:
    """The tax of each rate, and what is to be paid."""
    lines = tuple((amount, Tax(int(Fraction(rate) * 10_000), included)) for amount, rate, included in example["lines"])
    taxes = taxes_of(lines, Rounding(example["rounding"]))
    assert {Tax(rate.ppm, included=False).percent: rate.tax for rate in taxes.rates} == example["taxes"]
    assert sum(amount for amount, _ in lines) + taxes.added == example["total"]


@given(LINES, ROUNDINGS)
def test_each_rate_stands_once_and_its_tax_is_less_than_one_off(lines: Lines, rounding: Rounding) -> None:
    """In the order of the rates, whatever the number of lines, included or not."""
    taxes = taxes_of(lines, rounding)
    assert [rate.ppm for rate in taxes.rates] == sorted({tax.ppm for _, tax in lines})
    for rate in taxes.rates:
        due = sum((exact(*line) for line in lines if line[1].ppm == rate.ppm), Fraction())
        assert rate.tax == rounding.apply(due)
        assert abs(rate.tax - due) < 1


@given(LINES, ROUNDINGS)
def test_what_comes_on_top_is_the_tax_of_the_lines_without_it(lines: Lines, rounding: Rounding) -> None:
    """Rounded once per rate as well."""
    for rate in taxes_of(lines, rounding).rates:
        own = [line for line in lines if line[1].ppm == rate.ppm]
        assert rate.added == rounding.apply(sum((exact(*line) for line in own if not line[1].included), Fraction()))
        assert rate.gross == sum(amount for amount, _ in own) + rate.added


@given(LINES, ROUNDINGS)
def test_the_lines_shares_add_up_to_the_tax(lines: Lines, rounding: Rounding) -> None:
    """So that a line's tax in a report is never another sum than the bill's."""
    taxes = taxes_of(lines, rounding)
    assert len(taxes.shares) == len(lines)
    for rate in taxes.rates:
        own = [share for share, (_, tax) in zip(taxes.shares, lines, strict=True) if tax.ppm == rate.ppm]
        assert sum(own) == rate.tax


@given(CHARGED, ROUNDINGS)
def test_a_charged_lines_share_is_less_than_one_off(lines: Lines, rounding: Rounding) -> None:
    """Where nothing is credited beside it, twice the rounding at the most: the rate's own, and its share of it."""
    taxes = taxes_of(lines, rounding)
    for share, line in zip(taxes.shares, lines, strict=True):
        assert share >= 0
        assert abs(share - exact(*line)) < 2


@given(LINES, ROUNDINGS, AMOUNTS, RATES)
def test_a_line_with_its_tax_included_never_adds_any(lines: Lines, rounding: Rounding, amount: int, ppm: int) -> None:
    """What is to be paid rises by its amount, and by nothing else."""
    more = (*lines, (amount, Tax(ppm, included=True)))
    assert taxes_of(more, rounding).added == taxes_of(lines, rounding).added


@given(LINES.flatmap(lambda lines: st.tuples(st.just(lines), st.permutations(lines))), ROUNDINGS)
def test_the_order_of_lines_changes_no_total(both: tuple[Lines, list[tuple[int, Tax]]], rounding: Rounding) -> None:
    """The same lines make the same bill."""
    lines, mixed = both
    assert taxes_of(lines, rounding).rates == taxes_of(tuple(mixed), rounding).rates


@given(LINES, ROUNDINGS)
def test_every_amount_is_whole(lines: Lines, rounding: Rounding) -> None:
    """No fraction and no float ever leaves (B18)."""
    taxes = taxes_of(lines, rounding)
    numbers = [taxes.tax, taxes.added, *taxes.shares]
    numbers += [number for rate in taxes.rates for number in (rate.ppm, rate.gross, rate.tax, rate.added)]
    assert {type(number) for number in numbers} == {int}


@given(LINES, ROUNDINGS)
def test_credits_are_taxed_as_the_charges_they_undo(lines: Lines, rounding: Rounding) -> None:
    """A bill turned round is the same bill with the other sign."""
    turned = taxes_of(tuple((-amount, tax) for amount, tax in lines), rounding)
    taxes = taxes_of(lines, rounding)
    assert (turned.tax, turned.added) == (-taxes.tax, -taxes.added)


def test_a_credit_beside_charges_takes_its_tax_back() -> None:
    """1,000 and a credit of 105 at 10 %: the tax of 895, of which the credit has -11."""
    taxes = taxes_of(((1000, TEN), (-105, TEN)), Rounding.FLOOR)
    assert (taxes.tax, taxes.shares) == (89, (100, -11))


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize(
    ("charged", "credited"),
    [
        (1, [-9]),  # half up: -0.8 is -1, and not the charge's
        (100, [-9] * 10),  # ten credits of 0.9 are 9, and not the charge's
        (1000, [-105, -5]),
    ],
)
def test_a_share_is_near_its_lines_own_tax_beside_credits(
    charged: int, credited: list[int], rounding: Rounding
) -> None:
    """As near as without credits; and no charged line is ever said to have less than no tax."""
    lines = tuple((amount, TEN) for amount in [charged, *credited])
    shares = taxes_of(lines, rounding).shares
    assert shares[0] >= 0
    assert all(abs(share - exact(*line)) < 2 for share, line in zip(shares, lines, strict=True))


def test_rates_are_not_mixed() -> None:
    """5 % of nothing here becomes 10 % of something there: each rate is rounded by itself."""
    taxes = taxes_of(((105, TEN), (99, EIGHT), (110, TEN_INCLUDED)), Rounding.FLOOR)
    assert [(rate.ppm, rate.gross, rate.tax, rate.added) for rate in taxes.rates] == [
        (80_000, 106, 7, 7),
        (100_000, 225, 20, 10),
    ]


def test_a_bill_without_lines_has_no_taxes() -> None:
    """Nothing of nothing."""
    taxes = taxes_of((), Rounding.CEIL)
    assert (taxes.rates, taxes.shares, taxes.tax, taxes.added) == ((), (), 0, 0)
