"""What some days of a period cost: each its own month's day price, and parts that make up the whole (B16)."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.billing.periods import Days, period_of
from domain.billing.prices import price_of_days, price_of_more_days, split
from domain.calendar import Month
from domain.money import MAX_AMOUNT, Rounding
from tests.domain.billing.samples import day, days
from tests.domain.published import published, source_of

PRICES = st.integers(0, 1_000_000) | st.integers(0, MAX_AMOUNT)
PERIODS = st.builds(
    lambda year, number, closing_day: period_of(Month(year, number), closing_day, {}),
    st.integers(2000, 2028), st.integers(1, 12), st.integers(1, 31),
)  # fmt: skip
WEIGHTS = st.lists(st.integers(0, 10**6) | st.fractions(0, 1000), min_size=1, max_size=8)
WHOLES = st.integers(-(10**6), 10**6) | st.integers(-MAX_AMOUNT, MAX_AMOUNT)


@st.composite
def periods_in_parts(draw: st.DrawFn) -> tuple[Days, list[Days]]:
    """A period, and all its days in parts, in any order."""
    period = draw(PERIODS)
    ordinals = range(period.first.toordinal(), period.last.toordinal() + 1)
    cuts = sorted(draw(st.sets(st.sampled_from(ordinals), max_size=6)) | {ordinals[0]})
    parts = [
        Days(period.first.fromordinal(first), period.first.fromordinal(after - 1))
        for first, after in pairwise([*cuts, ordinals[-1] + 1])
    ]
    return period, draw(st.permutations(parts))


@pytest.mark.parametrize("example", published("prices"), ids=source_of)
def test_a_part_of_a_month_costs_what_was_published(example: dict[str, Any]) -> None:
    """Each day by the length of its own month; whole periods stay whole; each part of a period rounded once."""
    rounding = Rounding(example["rounding"])
    billed: list[Days] = []
    for first, last, amount in example["parts"]:
        lines = []
        for period in _periods(first, last, example["closing_day"]):
            part = days(first, last).within(period)
            assert part is not None
            before = [run for run in billed if run.within(period)]
            lines.append(rounding.apply(price_of_more_days(example["price"], part, period, before)))
            billed.append(part)
        assert sum(lines) == amount


@given(PRICES, periods_in_parts())
def test_the_parts_of_a_period_cost_the_whole_exactly(price: int, parts_of: tuple[Days, list[Days]]) -> None:
    """Billed one after the other, in any order; before any rounding."""
    period, parts = parts_of
    exact = [price_of_more_days(price, part, period, parts[:place]) for place, part in enumerate(parts)]
    assert sum(exact) == price


@given(PRICES, periods_in_parts(), st.sampled_from(Rounding))
def test_rounding_the_parts_moves_the_whole_by_less_than_one_a_line(
    price: int, parts_of: tuple[Days, list[Days]], rounding: Rounding
) -> None:
    """Written down: at most one minor unit per line, and none where there is one line."""
    period, parts = parts_of
    lines = [rounding.apply(price_of_more_days(price, part, period, parts[:place])) for place, part in enumerate(parts)]
    assert abs(sum(lines) - price) < len(lines)


@given(PRICES, periods_in_parts(), st.data())
def test_no_part_costs_more_than_the_whole_or_less_than_nothing(
    price: int, parts_of: tuple[Days, list[Days]], data: st.DataObject
) -> None:
    """Also where two short months would add up to more than a period's price."""
    period, parts = parts_of
    some = parts[: data.draw(st.integers(0, len(parts)))]
    assert 0 <= price_of_days(price, some, period) <= price
    assert all(0 <= price_of_more_days(price, part, period, parts[:place]) <= price for place, part in enumerate(parts))


@given(PRICES, periods_in_parts())
def test_more_days_never_cost_less(price: int, parts_of: tuple[Days, list[Days]]) -> None:
    """A later end never makes a period cheaper."""
    period, parts = parts_of
    costs = [price_of_days(price, parts[:count], period) for count in range(len(parts) + 1)]
    assert costs == sorted(costs)


def test_days_of_two_short_months_are_capped_at_the_price_of_the_period() -> None:
    """30 of the 31 days from 15 January to 14 February, at 1/31 and 1/28 each, would be more than the whole."""
    period = days("2026-01-15", "2026-02-14")
    assert price_of_days(868, [days("2026-01-16", "2026-02-14")], period) == 868
    assert price_of_more_days(868, days("2026-01-15", "2026-01-15"), period, [days("2026-01-16", "2026-02-14")]) == 0


def test_a_whole_period_costs_its_price_where_its_days_would_cost_less() -> None:
    """From 15 February to 14 March 2026 the day prices add up to 14/28 + 14/31 only."""
    period = days("2026-02-15", "2026-03-14")
    assert price_of_days(868, [period], period) == 868
    assert price_of_days(868, [days("2026-02-15", "2026-03-13")], period) == 434 + 13 * 28


def test_each_day_costs_its_own_months_share() -> None:
    """A fraction is kept until the line is rounded."""
    assert price_of_days(100, [days("2026-10-01", "2026-10-01")], days("2026-10-01", "2026-10-31")) == Fraction(100, 31)


@pytest.mark.parametrize("example", published("splits"), ids=source_of)
def test_a_split_is_as_published(example: dict[str, Any]) -> None:
    """The largest remainders get one more."""
    assert split(example["whole"], example["weights"]) == example["shares"]


@given(WHOLES, WEIGHTS)
def test_shares_add_up_to_the_whole(whole: int, weights: list[int | Fraction]) -> None:
    """Not one minor unit is lost or made, also of a credit."""
    assert sum(split(whole, weights)) == whole


@given(WHOLES, WEIGHTS.filter(any))
def test_a_share_is_less_than_one_away_from_its_exact_part(whole: int, weights: list[int | Fraction]) -> None:
    """The quota rule; nobody with no weight gets anything."""
    total = sum(weights, Fraction())
    shares = split(whole, weights)
    assert all(abs(share - whole * weight / total) < 1 for share, weight in zip(shares, weights, strict=True))
    assert all(share == 0 for share, weight in zip(shares, weights, strict=True) if weight == 0)


@given(WHOLES, WEIGHTS)
def test_a_larger_weight_never_gets_less(whole: int, weights: list[int | Fraction]) -> None:
    """And of two equal ones the earlier gets what is over."""
    ranked = sorted(zip(weights, range(len(weights)), split(whole, weights), strict=True), key=lambda one: one[:2])
    for (weight, _, share), (other, _, larger) in pairwise(ranked):
        if other > weight:
            assert abs(share) <= abs(larger)
        elif other == weight:
            assert abs(share) >= abs(larger)


@given(WHOLES, WEIGHTS)
def test_a_credit_is_split_as_its_charge_was(whole: int, weights: list[int | Fraction]) -> None:
    """So that a refund in full gives each line back what it had."""
    assert split(-whole, weights) == [-share for share in split(whole, weights)]


def test_without_any_weight_the_first_has_it_all() -> None:
    """Somebody must."""
    assert split(7, [0, 0]) == [7, 0]
    assert split(0, []) == []


def _periods(first: str, last: str, closing_day: int) -> list[Days]:
    month, found = Month.of(day(first)).plus(-1), []
    while (period := period_of(month, closing_day, {})).first <= day(last):
        if period.last >= day(first):
            found.append(period)
        month = month.plus(1)
    return found
