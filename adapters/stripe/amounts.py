"""Amounts as Stripe counts them: in the currency's minor unit, but for a few currencies in another one."""

from fractions import Fraction
from typing import Final

from domain.money import Money
from domain.operations import Operation

# How many of Stripe's units one of ISO 4217's minor units has, where that is not one.
# Source: docs.stripe.com/currencies, zero-decimal currencies and special cases.
_UNITS: Final = {"ISK": Fraction(100), "UGX": Fraction(100), "MGA": Fraction(1, 100)}


def asked(operation: Operation) -> tuple[int | Fraction, str]:
    """Amount and currency of a frozen request as Stripe has them; an amount with a fraction cannot be asked for."""
    currency = operation.content["currency"]
    return operation.content["amount"] * _units(currency), currency.lower()


def told(amount: object, currency: str) -> Money:
    """Money as Stripe tells it. Raises: Malformed naming `amount` or `currency`."""
    known = currency.upper()
    if isinstance(amount, int) and not isinstance(amount, bool):
        ours = amount / _units(known)
        amount = int(ours) if ours.denominator == 1 else ours
    return Money.parse(amount, known)


def _units(currency: str) -> Fraction:
    return _UNITS.get(currency, Fraction(1))
