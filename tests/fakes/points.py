"""The ledger of points in memory."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from application.transactions import Clock
from domain.errors import Refused
from domain.points import (
    MAX_POINTS,
    EntryKind,
    PointAccount,
    PointEntry,
    PointGrant,
    PointLot,
    PointRedemption,
    PointReversal,
    spend,
    take,
)
from tests.fakes.customers import InMemoryCustomerBook

Fact = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One posted entry, whose it is and what caused it."""

    customer_id: str
    entry: PointEntry
    cause: str | None = None


class InMemoryPointLedger:
    """`PointLedger` over plain dictionaries; how a reversal is spread is the domain's own rule."""

    def __init__(self, clock: Clock, customers: InMemoryCustomerBook) -> None:
        self._clock = clock
        self._customers = customers
        self.balances: dict[str, int] = {}
        self.lots: dict[Fact, PointLot] = {}
        self.owners: dict[Fact, str] = {}
        self.lines: list[Line] = []
        self.redemptions: dict[str, PointRedemption] = {}

    def lock(self, grants: Sequence[PointGrant], reversals: Sequence[PointReversal]) -> None:
        """One unit at a time runs here anyway."""

    def grant_once(self, grant: PointGrant) -> bool:
        return self.grant_each_once([grant])[0]

    def grant_each_once(self, grants: Sequence[PointGrant]) -> Sequence[bool]:
        new: dict[Fact, PointGrant] = {}
        answers: list[bool] = []
        for grant in grants:
            fact = (grant.order_id, grant.reason)
            answers.append(fact not in self.lots and fact not in new)
            if answers[-1]:
                new[fact] = grant
        changes: Counter[str] = Counter()
        for grant in new.values():
            changes[grant.customer_id] += grant.points
        for customer_id, points in changes.items():
            if self.balances.get(customer_id, 0) + points > MAX_POINTS:
                raise Refused(f"the balance of customer {customer_id} would exceed {MAX_POINTS}", field="points")
        for fact, grant in new.items():
            self._grant(fact, grant)
        return answers

    def _grant(self, fact: Fact, grant: PointGrant) -> None:
        repaid = min(grant.points, max(0, -self.balances.get(grant.customer_id, 0)))
        self.owners[fact] = grant.customer_id
        self.lots[fact] = PointLot(
            order_id=grant.order_id,
            reason=grant.reason,
            points=grant.points,
            remaining=grant.points - repaid,
            reversed=0,
            expired=0,
            expires_on=grant.expires_on,
            granted_at=self._clock.now(),
        )
        self._post(grant.customer_id, EntryKind.GRANT, grant.points, fact)

    def granted(self, facts: Sequence[Fact]) -> Sequence[PointGrant]:
        return [
            PointGrant(*fact, self.owners[fact], self.lots[fact].points, self.lots[fact].expires_on)
            for fact in facts
            if fact in self.lots
        ]

    def reverse_each_once(self, reversals: Sequence[PointReversal]) -> Sequence[int]:
        return [self._reverse(reversal) for reversal in reversals]

    def _reverse(self, reversal: PointReversal) -> int:
        fact = (reversal.order_id, reversal.reason)
        own = self.lots.get(fact)
        if own is None or own.reversible == 0 or self._was_reversed(reversal):
            return 0
        owner, points = self.owners[fact], own.reversible
        for taken_from, portion in take(points, own, self._open_lots(owner)).items():
            lot = self.lots[taken_from]
            self.lots[taken_from] = replace(lot, remaining=lot.remaining - portion)
        self.lots[fact] = replace(self.lots[fact], reversed=own.reversed + points)
        self._post(owner, EntryKind.REVERSE, -points, fact, reversal.cause)
        return points

    def _was_reversed(self, reversal: PointReversal) -> bool:
        fact = (reversal.order_id, reversal.reason, reversal.cause)
        return any(fact == (line.entry.order_id, line.entry.reason, line.cause) for line in self.lines)

    def _open_lots(self, customer_id: str) -> tuple[PointLot, ...]:
        lots = [lot for fact, lot in self.lots.items() if self.owners[fact] == customer_id and lot.remaining > 0]
        return tuple(sorted(lots, key=lambda lot: (lot.expires_on, lot.granted_at, lot.order_id, lot.reason)))

    def lower(self, kind: EntryKind, customer_id: str, fact: Fact, points: int) -> None:
        """Takes points out of a lot behind the book's back, as redeeming or expiring would."""
        lot = self.lots[fact]
        expired = points if kind is EntryKind.EXPIRE else 0
        self.lots[fact] = replace(lot, remaining=lot.remaining - points, expired=lot.expired + expired)
        self._post(customer_id, kind, -points, fact)

    def _post(
        self, customer_id: str, kind: EntryKind, points: int, fact: tuple[str | None, str], cause: str | None = None
    ) -> None:
        """Adds one line and moves the balance by it."""
        balance = self.balances.get(customer_id, 0) + points
        entry = PointEntry(self._clock.now(), kind, points, balance, *fact)
        self.balances[customer_id] = balance
        self.lines.append(Line(customer_id, entry, cause))

    def expire_due(self, customer_ids: Sequence[str], today: date) -> int:
        lapsed = [
            (fact, lot)
            for fact, lot in self.lots.items()
            if self.owners[fact] in customer_ids and lot.remaining > 0 and lot.expires_on < today
        ]
        for fact, lot in lapsed:
            self.lots[fact] = replace(lot, remaining=0, expired=lot.expired + lot.remaining)
            self._post(self.owners[fact], EntryKind.EXPIRE, -lot.remaining, fact, str(lot.expires_on))
        return sum(lot.remaining for _, lot in lapsed)

    def redeem_once(self, redemption: PointRedemption) -> bool:
        known = self.redemptions.get(redemption.redemption_id)
        if known is not None:
            redemption.check_same(known)
            return False
        customer_id, cause = redemption.customer_id, redemption.redemption_id
        taken = spend(redemption, self.balances.get(customer_id, 0), self._open_lots(customer_id))
        for fact, portion in taken.items():
            self.lots[fact] = replace(self.lots[fact], remaining=self.lots[fact].remaining - portion)
        self.redemptions[cause] = redemption
        self._post(customer_id, EntryKind.REDEEM, -redemption.points, (redemption.order_id, cause), cause)
        return True

    def account(self, customer_id: str) -> PointAccount | None:
        if customer_id not in self._customers.customers:
            return None
        return PointAccount(customer_id, self.balances.get(customer_id, 0), self._open_lots(customer_id))

    def history(self, customer_id: str, *, as_of: datetime | None = None) -> Iterator[PointEntry]:
        for line in self.lines:
            if line.customer_id == customer_id and (as_of is None or line.entry.at <= as_of):
                yield line.entry
