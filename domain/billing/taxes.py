"""Taxes of a bill: rounded once per rate, never per line, as the qualified invoice of Japan wants it.

Source: 国税庁, 適格請求書等保存方式 (consumption tax act, enforcement order 70-10).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Final

from domain.billing.plans import Tax
from domain.billing.prices import split
from domain.money import Rounding

_WHOLE: Final = 1_000_000  # parts per million


@dataclass(frozen=True, slots=True)
class RateTotal:
    """All lines of one rate together. `tax` is part of `gross`; `added` is what came on top of the lines' amounts.

    Units: `ppm` parts per million, all others minor units.
    """

    ppm: int
    gross: int
    tax: int
    added: int


@dataclass(frozen=True, slots=True)
class Taxes:
    """The taxes of a bill, per rate, and each line's share in them, in the order of the lines."""

    rates: tuple[RateTotal, ...]
    shares: tuple[int, ...]

    @property
    def tax(self) -> int:
        return sum(rate.tax for rate in self.rates)

    @property
    def added(self) -> int:
        return sum(rate.added for rate in self.rates)


@lru_cache(maxsize=4096)  # most customers' bills look alike, and fractions are slow
def taxes_of(amounts: tuple[tuple[int, Tax], ...], rounding: Rounding) -> Taxes:
    """The taxes of lines, given as amount and tax of each.

    The exact taxes of all lines of a rate, included or not, are summed, then rounded once.
    """
    shares = [0] * len(amounts)
    rates = []
    for ppm in sorted({tax.ppm for _, tax in amounts}):
        places = [place for place, (_, tax) in enumerate(amounts) if tax.ppm == ppm]
        exact = [_exact_tax(*amounts[place]) for place in places]
        tax = rounding.apply(sum(exact, Fraction()))
        on_top = (part for place, part in zip(places, exact, strict=True) if not amounts[place][1].included)
        added = rounding.apply(sum(on_top, Fraction()))
        rates.append(RateTotal(ppm, sum(amounts[place][0] for place in places) + added, tax, added))
        for place, share in zip(places, _shares(tax, exact), strict=True):
            shares[place] = share
    return Taxes(tuple(rates), tuple(shares))


def _exact_tax(amount: int, tax: Tax) -> Fraction:
    return Fraction(amount * tax.ppm, _WHOLE + tax.ppm if tax.included else _WHOLE)


def _shares(tax: int, exact: Sequence[Fraction]) -> list[int]:
    """Each line's share: what is lost by rounding each goes to the largest remainders, also beside credits."""
    if all(part >= 0 for part in exact) or all(part <= 0 for part in exact):
        return split(tax, exact)
    floors = [floor(part) for part in exact]
    more = split(tax - sum(floors), [part - below for part, below in zip(exact, floors, strict=True)])
    return [below + one for below, one in zip(floors, more, strict=True)]
