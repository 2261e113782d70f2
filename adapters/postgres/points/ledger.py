"""The ledger of points: entries that are only added, lots and balances that follow from them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Self

from sqlalchemy import Connection, Row

from adapters.postgres.points import statements as sql
from domain.errors import LostRace, Refused
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


class PostgresPointLedger:
    """`PointLedger` on the tables point_entries, point_lots and point_balances."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lock(self, grants: Sequence[PointGrant], reversals: Sequence[PointReversal]) -> None:
        self._lock_balances({grant.customer_id for grant in grants} | set(self._owners(reversals).values()))

    def grant_once(self, grant: PointGrant) -> bool:
        return self.grant_each_once([grant])[0]

    def grant_each_once(self, grants: Sequence[PointGrant]) -> Sequence[bool]:
        first = {(grant.order_id, grant.reason): grant for grant in reversed(grants)}
        if not first:
            return []
        balances = self._lock_balances({grant.customer_id for grant in first.values()})
        # An INSERT's rowcount is -1 with this driver, and RETURNING lists only what was inserted: match by key.
        inserted = {tuple(row) for row in self._connection.execute(sql.INSERT_LOTS, _columns(list(first.values())))}
        answers = []
        new = []
        for grant in grants:
            is_new = (grant.order_id, grant.reason) in inserted
            answers.append(is_new)
            if is_new:
                new.append(first[grant.order_id, grant.reason])
                inserted.remove((grant.order_id, grant.reason))
        self._post(balances, [_Posting.of_grant(grant) for grant in new])
        for grant in new:
            if balances[grant.customer_id] < 0:
                balances[grant.customer_id] = self._repay(grant, balances[grant.customer_id])
        return answers

    def granted(self, facts: Sequence[tuple[str, str]]) -> Sequence[PointGrant]:
        asked = {"orders": [order_id for order_id, _ in facts], "reasons": [reason for _, reason in facts]}
        return [PointGrant(*row) for row in self._connection.execute(sql.GRANTED, asked)]

    def reverse_each_once(self, reversals: Sequence[PointReversal]) -> Sequence[int]:
        if not reversals:
            return []
        owners = self._owners(reversals)
        balances = self._lock_balances(set(owners.values()))
        asked = {
            "orders": [reversal.order_id for reversal in reversals],
            "reasons": [reversal.reason for reversal in reversals],
            "causes": [reversal.cause for reversal in reversals],
        }
        done = {tuple(row) for row in self._connection.execute(sql.REVERSED_BEFORE, asked)}
        taken = []
        for reversal in reversals:
            owner = owners.get((reversal.order_id, reversal.reason))
            fact = (reversal.order_id, reversal.reason, reversal.cause)
            taken.append(0 if owner is None or fact in done else self._reverse(reversal, owner, balances))
            done.add(fact)
        return taken

    def expire_due(self, customer_ids: Sequence[str], today: date) -> int:
        balances = self._lock_balances(set(customer_ids))
        due = {"customers": sorted(balances), "today": today}
        lapsed = self._connection.execute(sql.EXPIRE_LOTS, due).all()
        self._post(balances, [_Posting.of_lapse(row) for row in lapsed])
        return sum(row.points for row in lapsed)

    def redeem_once(self, redemption: PointRedemption) -> bool:
        balances = self._lock_balances({redemption.customer_id})
        asked = {"redemption_id": redemption.redemption_id}
        known = self._connection.execute(sql.REDEMPTION, asked).one_or_none()
        if known is not None:
            redemption.check_same(PointRedemption(*known))
            return False
        taken = spend(redemption, balances[redemption.customer_id], self._open_lots(redemption.customer_id))
        row = {**asked, "customer_id": redemption.customer_id, "points": redemption.points}
        if self._connection.execute(sql.INSERT_REDEMPTION, {**row, "order_id": redemption.order_id}).first() is None:
            raise LostRace("this redemption was made meanwhile, for another customer")
        self._take(taken)
        parts = {"orders": [one for one, _ in taken], "reasons": [one for _, one in taken]}
        self._connection.execute(sql.INSERT_PARTS, {**asked, **parts, "points": list(taken.values())})
        self._post(balances, [_Posting.of_redemption(redemption)])
        return True

    def account(self, customer_id: str) -> PointAccount | None:
        rows = self._connection.execute(sql.ACCOUNT, {"customer_id": customer_id}).all()
        if not rows:
            return None
        lots = tuple(PointLot(*row[1:]) for row in rows if row.order_id is not None)
        return PointAccount(customer_id, rows[0].balance, lots)

    def history(self, customer_id: str, *, as_of: datetime | None = None) -> Iterator[PointEntry]:
        for row in self._connection.execute(sql.HISTORY, {"customer_id": customer_id, "as_of": as_of}):
            yield PointEntry(row.at, EntryKind(row.kind), row.points, int(row.balance_after), row.order_id, row.reason)

    def _owners(self, reversals: Sequence[PointReversal]) -> dict[tuple[str, str], str]:
        """Whoever was granted what shall be taken back, by (order_id, reason)."""
        granted = self.granted([(reversal.order_id, reversal.reason) for reversal in reversals])
        return {(grant.order_id, grant.reason): grant.customer_id for grant in granted}

    def _lock_balances(self, customer_ids: set[str]) -> dict[str, int]:
        customers = {"customers": sorted(customer_ids)}
        self._connection.execute(sql.ENSURE_BALANCES, customers)
        return {row.customer_id: row.balance for row in self._connection.execute(sql.LOCK_BALANCES, customers)}

    def _post(self, balances: Mapping[str, int], postings: Sequence["_Posting"]) -> None:
        """Adds entries, and their sum per customer to the balances."""
        if not postings:
            return
        sums: dict[str, int] = {}
        for posting in postings:
            sums[posting.customer_id] = sums.get(posting.customer_id, 0) + posting.points
        for customer_id, change in sums.items():
            if abs(balances[customer_id] + change) > MAX_POINTS:
                raise Refused(f"the balance of customer {customer_id} would exceed {MAX_POINTS}", field="points")
        self._connection.execute(
            sql.INSERT_ENTRIES,
            {
                "customers": [posting.customer_id for posting in postings],
                "kinds": [str(posting.kind) for posting in postings],
                "points": [posting.points for posting in postings],
                "orders": [posting.order_id for posting in postings],
                "reasons": [posting.reason for posting in postings],
                "causes": [posting.cause for posting in postings],
            },
        )
        self._connection.execute(sql.ADD_TO_BALANCES, {"customers": list(sums), "points": list(sums.values())})

    def _repay(self, grant: PointGrant, balance: int) -> int:
        """A credit repays debt before any of it can be spent. Returns: the balance after it."""
        repaid = min(grant.points, -balance)
        self._take({(grant.order_id, grant.reason): repaid})
        return balance + grant.points

    def _reverse(self, reversal: PointReversal, owner: str, balances: dict[str, int]) -> int:
        fact = {"order_id": reversal.order_id, "reason": reversal.reason}
        own = _lot(self._connection.execute(sql.LOT, fact).one())
        if own.reversible == 0:
            return 0
        self._take(take(own.reversible, own, self._open_lots(owner)))
        self._connection.execute(sql.MARK_REVERSED, {**fact, "points": own.reversible})
        self._post(balances, [_Posting.of_reversal(reversal, owner, own.reversible)])
        balances[owner] -= own.reversible
        return own.reversible

    def _take(self, taken: Mapping[tuple[str, str], int]) -> None:
        if taken:
            orders, reasons = [order_id for order_id, _ in taken], [reason for _, reason in taken]
            self._connection.execute(
                sql.TAKE_FROM_LOTS, {"orders": orders, "reasons": reasons, "points": list(taken.values())}
            )

    def _open_lots(self, customer_id: str) -> list[PointLot]:
        return [_lot(row) for row in self._connection.execute(sql.OPEN_LOTS, {"customer_id": customer_id})]


@dataclass(frozen=True, slots=True)
class _Posting:
    """One entry to be added. Units: points, signed."""

    customer_id: str
    kind: EntryKind
    points: int
    order_id: str | None
    reason: str
    cause: str | None = None

    @classmethod
    def of_lapse(cls, lot: Row[Any]) -> Self:
        return cls(lot.customer_id, EntryKind.EXPIRE, -lot.points, lot.order_id, lot.reason, str(lot.expires_on))

    @classmethod
    def of_redemption(cls, redemption: PointRedemption) -> Self:
        known = redemption.redemption_id
        return cls(redemption.customer_id, EntryKind.REDEEM, -redemption.points, redemption.order_id, known, known)

    @classmethod
    def of_grant(cls, grant: PointGrant) -> Self:
        return cls(grant.customer_id, EntryKind.GRANT, grant.points, grant.order_id, grant.reason)

    @classmethod
    def of_reversal(cls, reversal: PointReversal, owner: str, points: int) -> Self:
        return cls(owner, EntryKind.REVERSE, -points, reversal.order_id, reversal.reason, reversal.cause)


def _columns(grants: Sequence[PointGrant]) -> dict[str, list[object]]:
    """The grants as arrays: binding row by row is what would cost."""
    return {
        "orders": [grant.order_id for grant in grants],
        "reasons": [grant.reason for grant in grants],
        "customers": [grant.customer_id for grant in grants],
        "points": [grant.points for grant in grants],
        "expiries": [grant.expires_on for grant in grants],
    }


def _lot(row: Row[Any]) -> PointLot:
    return PointLot(**row._mapping)
