"""`RefundBook` on the table refunds, beside the bills' charges."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, text

from adapters.postgres.billing.statements import LOCK_BILL
from adapters.postgres.operations.book import operation_of
from adapters.postgres.operations.statements import OF_OPERATION
from domain.money import Money
from domain.operations import State
from domain.payments import Charge, Refund, RefundState, answered, further

_CHARGE: Final = f"""
    SELECT bill.customer_id, bill.month, bill.total, bill.currency, {OF_OPERATION}
    FROM bills AS bill JOIN operations AS operation ON operation.key = bill.charge_key
"""
_OF_BILL: Final = text(f"{_CHARGE} WHERE bill.customer_id = :customer_id AND bill.month = :month")
_BY_REFERENCE: Final = text(
    f"{_CHARGE} WHERE operation.kind = 'billing' AND operation.result ->> 'reference' = :reference"
    " AND operation.result ? 'reference'"
)
_REFUND: Final = """
    SELECT refund.refund_id, refund.customer_id, refund.month, refund.amount, refund.currency, refund.origin,
           refund.void, refund.state AS heard, operation.state,
           operation.result ->> 'status' AS status,
           coalesce(refund.reference, operation.result ->> 'reference') AS reference
    FROM refunds AS refund LEFT JOIN operations AS operation ON operation.key = refund.key
"""
_GET: Final = text(f"{_REFUND} WHERE refund.refund_id = :refund_id")
_BY_KEY: Final = text(f"{_REFUND} WHERE refund.key = :key")
_OF_CHARGE: Final = text(f"{_REFUND} WHERE refund.customer_id = :customer_id AND refund.month = :month ORDER BY seq")
_OF_CUSTOMER: Final = text(f"{_REFUND} WHERE refund.customer_id = :customer_id ORDER BY seq")
_ADD: Final = text(
    """
    INSERT INTO refunds (refund_id, key, customer_id, month, amount, currency, origin, void, state, reference)
    VALUES (:refund_id, :key, :customer_id, :month, :amount, :currency, :origin, :void, :state, :reference)
    ON CONFLICT DO NOTHING RETURNING refund_id
    """
)
_DROP_TWIN: Final = text(
    "DELETE FROM refunds WHERE reference = :reference AND origin = 'provider' AND refund_id <> :refund_id"
)
_HEAR: Final = text("UPDATE refunds SET state = :state, reference = :reference WHERE refund_id = :refund_id")


class PostgresRefundBook:
    """Refunds as rows: what was asked for, and what the provider told by itself."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def charge(self, customer_id: str, month: str, *, lock: bool = False) -> Charge | None:
        asked = {"customer_id": customer_id, "month": month}
        if lock:
            # All that decide about refunds of one bill come one after the other.
            self._connection.execute(LOCK_BILL, asked)
        return _charge(self._connection.execute(_OF_BILL, asked).one_or_none())

    def charge_by_reference(self, reference: str) -> Charge | None:
        return _charge(self._connection.execute(_BY_REFERENCE, {"reference": reference}).first())

    def get(self, refund_id: str) -> Refund | None:
        return _refund(self._connection.execute(_GET, {"refund_id": refund_id}).one_or_none())

    def by_key(self, key: str) -> Refund | None:
        return _refund(self._connection.execute(_BY_KEY, {"key": key}).one_or_none())

    def of_charge(self, customer_id: str, month: str) -> Sequence[Refund]:
        rows = self._connection.execute(_OF_CHARGE, {"customer_id": customer_id, "month": month})
        return [refund for row in rows if (refund := _refund(row)) is not None]

    def of_customer(self, customer_id: str) -> Sequence[Refund]:
        rows = self._connection.execute(_OF_CUSTOMER, {"customer_id": customer_id})
        return [refund for row in rows if (refund := _refund(row)) is not None]

    def add(self, refund: Refund) -> bool:
        stored = {
            "refund_id": refund.refund_id,
            "key": refund.key,
            "customer_id": refund.customer_id,
            "month": refund.month,
            "amount": refund.money.amount,
            "currency": refund.money.currency,
            "origin": refund.origin,
            "void": refund.void,
            "state": str(refund.state),
            "reference": refund.reference,
        }
        return self._connection.execute(_ADD, stored).scalar_one_or_none() is not None

    def hear(self, refund: Refund) -> None:
        self._connection.execute(_DROP_TWIN, {"refund_id": refund.refund_id, "reference": refund.reference})
        heard = {"refund_id": refund.refund_id, "state": str(refund.state), "reference": refund.reference}
        self._connection.execute(_HEAR, heard)


def _charge(row: Row[Any] | None) -> Charge | None:
    if row is None:
        return None
    return Charge(row.customer_id, row.month, Money(row.total, row.currency), operation_of(row))


def _refund(row: Row[Any] | None) -> Refund | None:
    if row is None:
        return None
    state = further(RefundState(row.heard), answered(row.state and State(row.state), row.status))
    money = Money(row.amount, row.currency)
    return Refund(row.refund_id, row.customer_id, row.month, money, state, row.reference, row.origin, row.void)
