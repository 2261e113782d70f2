"""The ledger of points: entries that are only added, lots and balances that follow from them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, text

from domain.errors import Refused
from domain.points import MAX_POINTS, EntryKind, PointAccount, PointEntry, PointGrant, PointLot, PointReversal, take

_LOT_COLUMNS: Final = "order_id, reason, points, remaining, reversed, expired, expires_on, granted_at"

# A balance row that is missing is made; all are locked in the order of their customers.
_ENSURE_BALANCES: Final = text(
    "INSERT INTO point_balances (customer_id) SELECT unnest(CAST(:customers AS text[])) ON CONFLICT DO NOTHING"
)
_LOCK_BALANCES: Final = text(
    "SELECT customer_id, balance FROM point_balances WHERE customer_id = ANY(CAST(:customers AS text[]))"
    " ORDER BY customer_id FOR UPDATE"
)
_INSERT_LOTS: Final = text(
    """
    INSERT INTO point_lots (order_id, reason, customer_id, points, remaining, expires_on, granted_at)
    SELECT order_id, reason, customer_id, points, points, expires_on, clock.now
    FROM unnest(CAST(:orders AS text[]), CAST(:reasons AS text[]), CAST(:customers AS text[]),
                CAST(:points AS bigint[]), CAST(:expiries AS date[]))
         AS new (order_id, reason, customer_id, points, expires_on),
         (SELECT ikkai_now() AS now) AS clock
    ORDER BY order_id, reason
    ON CONFLICT (order_id, reason) DO NOTHING
    RETURNING order_id, reason
    """
)
_INSERT_ENTRIES: Final = text(
    """
    INSERT INTO point_entries (customer_id, kind, points, order_id, reason, cause, at)
    SELECT customer_id, :kind, points, order_id, reason, cause, clock.now
    FROM unnest(CAST(:orders AS text[]), CAST(:reasons AS text[]), CAST(:customers AS text[]),
                CAST(:points AS bigint[]), CAST(:causes AS text[])) WITH ORDINALITY
         AS new (order_id, reason, customer_id, points, cause, place),
         (SELECT ikkai_now() AS now) AS clock
    ORDER BY place
    """
)
_ADD_TO_BALANCES: Final = text(
    """
    UPDATE point_balances SET balance = balance + change.points
    FROM unnest(CAST(:customers AS text[]), CAST(:points AS bigint[])) AS change (customer_id, points)
    WHERE point_balances.customer_id = change.customer_id
    """
)
_TAKE_FROM_LOTS: Final = text(
    """
    UPDATE point_lots SET remaining = remaining - taken.points
    FROM unnest(CAST(:orders AS text[]), CAST(:reasons AS text[]), CAST(:points AS bigint[]))
         AS taken (order_id, reason, points)
    WHERE point_lots.order_id = taken.order_id AND point_lots.reason = taken.reason
    """
)
_MARK_REVERSED: Final = text(
    "UPDATE point_lots SET reversed = reversed + :points WHERE order_id = :order_id AND reason = :reason"
)
_GRANTED: Final = text(
    """
    SELECT order_id, reason, customer_id, points, expires_on FROM point_lots
    JOIN unnest(CAST(:orders AS text[]), CAST(:reasons AS text[])) AS asked (order_id, reason)
      USING (order_id, reason)
    """
)
_REVERSED_BEFORE: Final = text(
    """
    SELECT order_id, reason, cause FROM point_entries
    JOIN unnest(CAST(:orders AS text[]), CAST(:reasons AS text[]), CAST(:causes AS text[]))
         AS asked (order_id, reason, cause)
      USING (order_id, reason, cause)
    WHERE kind = 'reverse'
    """
)
_LOT: Final = text(f"SELECT {_LOT_COLUMNS} FROM point_lots WHERE order_id = :order_id AND reason = :reason FOR UPDATE")
_OPEN_LOTS: Final = text(
    f"SELECT {_LOT_COLUMNS} FROM point_lots WHERE customer_id = :customer_id AND remaining > 0"
    " ORDER BY expires_on, granted_at, order_id, reason"
)
_BALANCE: Final = text(
    "SELECT coalesce(balance, 0) FROM customers LEFT JOIN point_balances USING (customer_id)"
    " WHERE customer_id = :customer_id"
)
_HISTORY: Final = text(
    """
    SELECT at, kind, points, sum(points) OVER (ORDER BY entry_id) AS balance_after, order_id, reason
    FROM point_entries
    WHERE customer_id = :customer_id AND (CAST(:as_of AS timestamptz) IS NULL OR at <= :as_of)
    ORDER BY entry_id
    """
)


class PostgresPointLedger:
    """`PointLedger` on the tables point_entries, point_lots and point_balances."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def grant_once(self, grant: PointGrant) -> bool:
        return self.grant_each_once([grant])[0]

    def grant_each_once(self, grants: Sequence[PointGrant]) -> Sequence[bool]:
        first = {(grant.order_id, grant.reason): grant for grant in reversed(grants)}
        if not first:
            return []
        balances = self._lock_balances({grant.customer_id for grant in first.values()})
        # An INSERT's rowcount is -1 with this driver, and RETURNING lists only what was inserted: match by key.
        new = [first[tuple(row)] for row in self._connection.execute(_INSERT_LOTS, _columns(list(first.values())))]
        self._post(EntryKind.GRANT, balances, [(grant, grant.points, None) for grant in new])
        for grant in new:
            if balances[grant.customer_id] < 0:
                balances[grant.customer_id] = self._repay(grant, balances[grant.customer_id])
        inserted = {id(grant) for grant in new}
        return [id(grant) in inserted for grant in grants]

    def granted(self, facts: Sequence[tuple[str, str]]) -> Sequence[PointGrant]:
        asked = {"orders": [order_id for order_id, _ in facts], "reasons": [reason for _, reason in facts]}
        return [PointGrant(*row) for row in self._connection.execute(_GRANTED, asked)]

    def reverse_each_once(self, reversals: Sequence[PointReversal]) -> Sequence[int]:
        if not reversals:
            return []
        balances = self._lock_balances({reversal.customer_id for reversal in reversals})
        asked = {
            "orders": [reversal.order_id for reversal in reversals],
            "reasons": [reversal.reason for reversal in reversals],
            "causes": [reversal.cause for reversal in reversals],
        }
        done = {tuple(row) for row in self._connection.execute(_REVERSED_BEFORE, asked)}
        taken = []
        for reversal in reversals:
            fact = (reversal.order_id, reversal.reason, reversal.cause)
            taken.append(0 if fact in done else self._reverse(reversal, balances))
            done.add(fact)
        return taken

    def account(self, customer_id: str) -> PointAccount | None:
        balance = self._connection.execute(_BALANCE, {"customer_id": customer_id}).scalar_one_or_none()
        return None if balance is None else PointAccount(customer_id, balance, tuple(self._open_lots(customer_id)))

    def history(self, customer_id: str, *, as_of: datetime | None = None) -> Iterator[PointEntry]:
        for row in self._connection.execute(_HISTORY, {"customer_id": customer_id, "as_of": as_of}):
            yield PointEntry(row.at, EntryKind(row.kind), row.points, int(row.balance_after), row.order_id, row.reason)

    def _lock_balances(self, customer_ids: set[str]) -> dict[str, int]:
        customers = {"customers": sorted(customer_ids)}
        self._connection.execute(_ENSURE_BALANCES, customers)
        return {row.customer_id: row.balance for row in self._connection.execute(_LOCK_BALANCES, customers)}

    def _post(
        self,
        kind: EntryKind,
        balances: Mapping[str, int],
        posted: Sequence[tuple[PointGrant | PointReversal, int, str | None]],
    ) -> None:
        """Adds entries and their sum per customer to the balances."""
        if not posted:
            return
        sums: dict[str, int] = {}
        for fact, points, _ in posted:
            sums[fact.customer_id] = sums.get(fact.customer_id, 0) + points
        for customer_id, change in sums.items():
            if abs(balances[customer_id] + change) > MAX_POINTS:
                raise Refused(f"the balance of customer {customer_id} would exceed {MAX_POINTS}", field="points")
        self._connection.execute(
            _INSERT_ENTRIES,
            {
                "kind": kind,
                "orders": [fact.order_id for fact, _, _ in posted],
                "reasons": [fact.reason for fact, _, _ in posted],
                "customers": [fact.customer_id for fact, _, _ in posted],
                "points": [points for _, points, _ in posted],
                "causes": [cause for _, _, cause in posted],
            },
        )
        changes = {"customers": list(sums), "points": list(sums.values())}
        self._connection.execute(_ADD_TO_BALANCES, changes)

    def _repay(self, grant: PointGrant, balance: int) -> int:
        """A credit repays debt before any of it can be spent. Returns: the balance after it."""
        repaid = min(grant.points, -balance)
        self._take({(grant.order_id, grant.reason): repaid})
        return balance + grant.points

    def _reverse(self, reversal: PointReversal, balances: dict[str, int]) -> int:
        row = self._connection.execute(_LOT, {"order_id": reversal.order_id, "reason": reversal.reason}).one_or_none()
        own = None if row is None else _lot(row)
        if own is None or own.reversible == 0:
            return 0
        points = own.reversible
        self._take(take(points, own, self._open_lots(reversal.customer_id)))
        self._connection.execute(
            _MARK_REVERSED, {"points": points, "order_id": reversal.order_id, "reason": reversal.reason}
        )
        self._post(EntryKind.REVERSE, balances, [(reversal, -points, reversal.cause)])
        balances[reversal.customer_id] -= points
        return points

    def _take(self, taken: Mapping[tuple[str, str], int]) -> None:
        if taken:
            orders, reasons = [order_id for order_id, _ in taken], [reason for _, reason in taken]
            self._connection.execute(
                _TAKE_FROM_LOTS, {"orders": orders, "reasons": reasons, "points": list(taken.values())}
            )

    def _open_lots(self, customer_id: str) -> list[PointLot]:
        return [_lot(row) for row in self._connection.execute(_OPEN_LOTS, {"customer_id": customer_id})]


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
