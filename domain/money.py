"""Money in the currency's own minor unit; no float ever holds an amount."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final

from domain.errors import Malformed, Refused

MAX_AMOUNT: Final = 2**63 - 1  # what a 64-bit column holds

# Digits of the minor unit per currency in use. Source: ISO 4217, list one, 2026-01.
_TWO_DIGITS: Final = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC "
    "CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR "
    "JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD "
    "NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN "
    "SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"
)
_NO_DIGITS: Final = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_THREE_DIGITS: Final = "BHD IQD JOD KWD LYD OMR TND"
MINOR_DIGITS: Final = {
    **dict.fromkeys(_TWO_DIGITS.split(), 2),
    **dict.fromkeys(_NO_DIGITS.split(), 0),
    **dict.fromkeys(_THREE_DIGITS.split(), 3),
}


class Rounding(StrEnum):
    """What becomes of a fraction of a minor unit; of the absolute value, so that a refund mirrors its charge."""

    FLOOR = "floor"
    HALF_UP = "half_up"
    CEIL = "ceil"

    def apply(self, exact: Fraction) -> int:
        whole, rest = divmod(abs(exact.numerator), exact.denominator)
        up = {
            Rounding.FLOOR: False,
            Rounding.HALF_UP: 2 * rest >= exact.denominator,
            Rounding.CEIL: rest > 0,
        }[self]
        return (whole + up) * (-1 if exact < 0 else 1)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount of one currency. Units: the currency's minor unit (JPY 9899 = ¥9,899; USD 1799 = $17.99)."""

    amount: int
    currency: str

    @classmethod
    def parse(cls, amount: object, currency: object, *, amount_field: str = "amount") -> "Money":
        """Money as given from outside: zero or more.

        Raises: Malformed naming `amount_field` or `currency`.
        """
        if not isinstance(currency, str) or currency not in MINOR_DIGITS:
            raise Malformed("currency", "must be an ISO 4217 code such as JPY")
        if isinstance(amount, bool) or not isinstance(amount, int) or not 0 <= amount <= MAX_AMOUNT:
            raise Malformed(amount_field, f"must be a whole number of minor units from 0 to {MAX_AMOUNT}")
        return cls(amount, currency)

    @property
    def whole_units(self) -> int:
        """The amount in whole units of the currency, the rest dropped."""
        return int(Fraction(self.amount, 10 ** MINOR_DIGITS[self.currency]))

    def plus(self, other: "Money") -> "Money":
        """Raises: Refused for another currency."""
        if other.currency != self.currency:
            raise Refused(f"{other.currency} cannot be added to {self.currency}", field="currency")
        return Money(self.amount + other.amount, self.currency)
