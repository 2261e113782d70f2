"""What some days of a period cost: each its own calendar month's share of the price."""

from collections.abc import Sequence
from fractions import Fraction

from domain.billing.periods import ONE_DAY, Days
from domain.calendar import Month


def price_of_days(price: int, days: Sequence[Days], period: Days) -> Fraction:
    """The exact price of these days, which do not overlap, of one period: the whole period costs `price`, no part more.

    Units: minor units, not rounded.
    """
    if sum(run.count for run in days) == period.count:
        return Fraction(price)
    return min(Fraction(price), sum((_by_day(price, run) for run in days), Fraction()))


def price_of_more_days(price: int, days: Days, period: Days, billed: Sequence[Days]) -> Fraction:
    """What these days cost where others of the period are billed already, so that the parts make up the whole."""
    if not billed:
        return price_of_days(price, [days], period)
    return price_of_days(price, [*billed, days], period) - price_of_days(price, billed, period)


def _by_day(price: int, days: Days) -> Fraction:
    exact = Fraction()
    first = days.first
    while first <= days.last:
        month = Month.of(first)
        part = Days(first, min(days.last, month.last_day))
        exact += Fraction(price * part.count, month.last_day.day)
        first = part.last + ONE_DAY
    return exact


def split(whole: int, weights: Sequence[Fraction | int]) -> list[int]:
    """Shares of `whole` in proportion, whole numbers that add up to it: the largest remainders get one more.

    Returns: all to the first where every weight is zero; of a weight below zero its size counts.
    Source: Hare-Niemeyer, ties to the earlier share.
    """
    sizes = [abs(Fraction(weight)) for weight in weights]
    total = sum(sizes, Fraction())
    if not total:
        return [whole if place == 0 else 0 for place in range(len(sizes))]
    exact = [abs(whole) * size / total for size in sizes]
    shares = [int(share) for share in exact]
    places = sorted(range(len(sizes)), key=lambda place: (shares[place] - exact[place], place))
    for place in places[: abs(whole) - sum(shares)]:
        shares[place] += 1
    return shares if whole >= 0 else [-share for share in shares]
