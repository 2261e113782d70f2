"""Loyalty points: what a grant, a reversal and a balance are, and the book that keeps them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Final, Protocol

from domain.errors import Conflict, Malformed, Refused
from domain.money import Money

MAX_POINTS: Final = 2**63 - 1  # what a 64-bit column holds; more is refused, never wrapped


class EntryKind(StrEnum):
    """Why a balance moved."""

    GRANT = "grant"
    REDEEM = "redeem"
    REVERSE = "reverse"
    RESTORE = "restore"
    EXPIRE = "expire"


@dataclass(frozen=True, slots=True)
class PointGrant:
    """Points that an order earns for one reason. Key: (order_id, reason)."""

    order_id: str
    reason: str
    customer_id: str
    points: int
    expires_on: date

    def check_same(self, first: "PointGrant") -> None:
        """Raises: Conflict when the points granted first under this order and reason differ from these."""
        if (self.customer_id, self.points) != (first.customer_id, first.points):
            raise Conflict(
                f"order {first.order_id} was granted {first.points} points for {first.reason} before,"
                f" to customer {first.customer_id}, not {self.points} to {self.customer_id}"
            )


@dataclass(frozen=True, slots=True)
class PointReversal:
    """An order's grant is taken back from whoever got it, as far as it is not yet reversed or expired.

    Key: (order_id, reason, cause).
    """

    order_id: str
    reason: str
    cause: str


@dataclass(frozen=True, slots=True)
class PointRedemption:
    """Points that a customer spends, on an order or not. Key: redemption_id, the shop's own."""

    redemption_id: str
    customer_id: str
    points: int
    order_id: str | None = None

    def check_same(self, first: "PointRedemption") -> None:
        """Raises: Conflict when what was redeemed first under this id differs from this."""
        if self != first:
            on = "" if first.order_id is None else f" on order {first.order_id}"
            told = f"{first.points} points of customer {first.customer_id}{on}"
            raise Conflict(f"redemption {first.redemption_id} is known with other content: {told}")


@dataclass(frozen=True, slots=True)
class PointLot:
    """One grant as it stands: what it gave and what of it can still be spent."""

    order_id: str
    reason: str
    points: int
    remaining: int
    reversed: int
    expired: int
    expires_on: date
    granted_at: datetime

    @property
    def reversible(self) -> int:
        """What a reversal may still take back of this grant."""
        return self.points - self.reversed - self.expired


@dataclass(frozen=True, slots=True)
class PointEntry:
    """One line of a customer's history. Units: points, signed; `balance_after` follows from all lines before."""

    at: datetime
    kind: EntryKind
    points: int
    balance_after: int
    order_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class PointAccount:
    """What a customer has now: a balance, and the lots it consists of; below zero it is debt and no lot is open."""

    customer_id: str
    balance: int
    lots: tuple[PointLot, ...] = ()

    @property
    def debt(self) -> int:
        return max(0, -self.balance)


class PointLedger(Protocol):
    """The append-only book of points. Every write locks balances in customer order, then lots."""

    def lock(self, grants: Sequence[PointGrant], reversals: Sequence[PointReversal]) -> None:
        """Locks every balance that these will move, so that several writes of one unit keep the order of locks."""
        ...

    def grant_once(self, grant: PointGrant) -> bool:
        """Grants if not yet granted; true only for the call that did it."""
        ...

    def grant_each_once(self, grants: Sequence[PointGrant]) -> Sequence[bool]:
        """Likewise for many: one answer per grant, in their order. Debt is repaid before anything can be spent.

        Raises: Refused when a balance would leave 64 bits; then nothing of the call is posted.
        """
        ...

    def granted(self, facts: Sequence[tuple[str, str]]) -> Sequence[PointGrant]:
        """What was granted under these (order_id, reason) pairs; pairs without a grant are missing in the answer."""
        ...

    def reverse_each_once(self, reversals: Sequence[PointReversal]) -> Sequence[int]:
        """Takes grants back: from their own lot, then from others as spending would, then it leaves debt.

        Returns: points taken per reversal; 0 where the grant is unknown or nothing was left, or it was done before.
        """
        ...

    def expire_due(self, customer_ids: Sequence[str], today: date) -> int:
        """Takes out what could be spent until yesterday, an entry per lot. Returns: how many points that was."""
        ...

    def redeem_once(self, redemption: PointRedemption) -> bool:
        """Spends if not yet spent, from the lot that ends first; true only for the call that did it.

        Raises: Conflict for a redemption known with other content, Refused where the balance is less.
        """
        ...

    def account(self, customer_id: str) -> PointAccount | None:
        """The customer's balance with open lots, the first to be spent first; nothing for an unknown customer."""
        ...

    def history(self, customer_id: str, *, as_of: datetime | None = None) -> Iterator[PointEntry]:
        """Every line of the customer in order of posting, up to and including `as_of`."""
        ...


def whole_points(field: str, value: object) -> int:
    """Points as given from outside. Raises: Malformed unless a whole number from 0 to 2^63-1."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_POINTS:
        raise Malformed(field, f"must be a whole number from 0 to {MAX_POINTS}")
    return value


def earned_points(total: Money, rate_percent: Fraction) -> int:
    """What an order earns where the shop did not say: the rate on its whole currency units, rounded down."""
    return int(total.whole_units * rate_percent / 100)


def take(reversal_points: int, own: PointLot, others: Sequence[PointLot]) -> dict[tuple[str, str], int]:
    """How a reversal is spread: first its own lot, then the others in spending order; the rest becomes debt.

    Returns: points to take per lot, by (order_id, reason); lots that give nothing are missing.
    """
    rest = (other for other in others if (other.order_id, other.reason) != (own.order_id, own.reason))
    return _spread(reversal_points, (own, *rest))


def spend(redemption: PointRedemption, balance: int, lots: Sequence[PointLot]) -> dict[tuple[str, str], int]:
    """How a redemption is spread over the open lots, which come in the order in which they end.

    Returns: points to take per lot, by (order_id, reason). Raises: Refused where the balance is less.
    """
    if balance < redemption.points:
        has = f"has {balance}" if balance >= 0 else f"owes {-balance}"
        reason = f"customer {redemption.customer_id} {has} points, too few to spend {redemption.points}"
        raise Refused(reason, field="points")
    return _spread(redemption.points, lots)


def _spread(points: int, lots: Sequence[PointLot]) -> dict[tuple[str, str], int]:
    taken: dict[tuple[str, str], int] = {}
    left = points
    for lot in lots:
        portion = min(left, lot.remaining)
        if portion > 0:
            taken[lot.order_id, lot.reason] = portion
            left -= portion
    return taken
