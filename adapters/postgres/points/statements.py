"""The ledger's statements over sets: balances are locked first, in the order of their customers, then lots."""

from typing import Final

from sqlalchemy import text

from adapters.postgres.clock import CLOCK

LOT_COLUMNS: Final = "order_id, reason, points, remaining, reversed, expired, expires_on, granted_at"

# A balance row that is missing is made; all are locked in the order of their customers.
ENSURE_BALANCES: Final = text(
    "INSERT INTO point_balances (customer_id) SELECT unnest(CAST(:customers AS text[])) ON CONFLICT DO NOTHING"
)
LOCK_BALANCES: Final = text(
    "SELECT customer_id, balance FROM point_balances WHERE customer_id = ANY(CAST(:customers AS text[]))"
    " ORDER BY customer_id FOR UPDATE"
)
INSERT_LOTS: Final = text(
    f"""
    WITH {CLOCK}
    INSERT INTO point_lots (order_id, reason, customer_id, points, remaining, expires_on, granted_at)
    SELECT order_id, reason, customer_id, points, points, expires_on, clock.now
    FROM unnest(CAST(:orders AS text[]), CAST(:reasons AS text[]), CAST(:customers AS text[]),
                CAST(:points AS bigint[]), CAST(:expiries AS date[]))
         AS new (order_id, reason, customer_id, points, expires_on),
         clock
    ORDER BY order_id, reason
    ON CONFLICT (order_id, reason) DO NOTHING
    RETURNING order_id, reason
    """
)
INSERT_ENTRIES: Final = text(
    f"""
    WITH {CLOCK}
    INSERT INTO point_entries (customer_id, kind, points, order_id, reason, cause, at)
    SELECT customer_id, kind, points, order_id, reason, cause, clock.now
    FROM unnest(CAST(:customers AS text[]), CAST(:kinds AS text[]), CAST(:points AS bigint[]),
                CAST(:orders AS text[]), CAST(:reasons AS text[]), CAST(:causes AS text[])) WITH ORDINALITY
         AS new (customer_id, kind, points, order_id, reason, cause, place),
         clock
    ORDER BY place
    """
)
ADD_TO_BALANCES: Final = text(
    """
    UPDATE point_balances SET balance = balance + change.points
    FROM unnest(CAST(:customers AS text[]), CAST(:points AS bigint[])) AS change (customer_id, points)
    WHERE point_balances.customer_id = change.customer_id
    """
)
TAKE_FROM_LOTS: Final = text(
    """
    UPDATE point_lots SET remaining = remaining - taken.points
    FROM unnest(CAST(:orders AS text[]), CAST(:reasons AS text[]), CAST(:points AS bigint[]))
         AS taken (order_id, reason, points)
    WHERE point_lots.order_id = taken.order_id AND point_lots.reason = taken.reason
    """
)
MARK_REVERSED: Final = text(
    "UPDATE point_lots SET reversed = reversed + :points WHERE order_id = :order_id AND reason = :reason"
)
GRANTED: Final = text(
    """
    SELECT order_id, reason, customer_id, points, expires_on FROM point_lots
    JOIN unnest(CAST(:orders AS text[]), CAST(:reasons AS text[])) AS asked (order_id, reason)
      USING (order_id, reason)
    """
)
REVERSED_BEFORE: Final = text(
    """
    SELECT order_id, reason, cause FROM point_entries
    JOIN unnest(CAST(:orders AS text[]), CAST(:reasons AS text[]), CAST(:causes AS text[]))
         AS asked (order_id, reason, cause)
      USING (order_id, reason, cause)
    WHERE kind = 'reverse'
    """
)
LOT: Final = text(f"SELECT {LOT_COLUMNS} FROM point_lots WHERE order_id = :order_id AND reason = :reason FOR UPDATE")
OPEN_LOTS: Final = text(
    f"SELECT {LOT_COLUMNS} FROM point_lots WHERE customer_id = :customer_id AND remaining > 0"
    " ORDER BY expires_on, granted_at, order_id, reason"
)
# Balance and lots in one statement: in two, a reader could see debt beside lots that are already gone.
ACCOUNT: Final = text(
    f"""
    SELECT coalesce(balance, 0) AS balance, {LOT_COLUMNS}
    FROM customers
    LEFT JOIN point_balances USING (customer_id)
    LEFT JOIN point_lots ON point_lots.customer_id = customers.customer_id AND remaining > 0
    WHERE customers.customer_id = :customer_id
    ORDER BY expires_on, granted_at, order_id, reason
    """
)
HISTORY: Final = text(
    """
    SELECT at, kind, points, sum(points) OVER (ORDER BY entry_id) AS balance_after, order_id, reason
    FROM point_entries
    WHERE customer_id = :customer_id AND (CAST(:as_of AS timestamptz) IS NULL OR at <= :as_of)
    ORDER BY entry_id
    """
)


EXPIRE_LOTS: Final = text(
    """
    WITH lapsed AS (
        SELECT order_id, reason, customer_id, remaining AS points, expires_on FROM point_lots
        WHERE customer_id = ANY(CAST(:customers AS text[])) AND remaining > 0 AND expires_on < :today
        ORDER BY order_id, reason FOR UPDATE
    )
    UPDATE point_lots SET expired = expired + lapsed.points, remaining = 0
    FROM lapsed WHERE point_lots.order_id = lapsed.order_id AND point_lots.reason = lapsed.reason
    RETURNING lapsed.order_id, lapsed.reason, lapsed.customer_id, lapsed.points, lapsed.expires_on
    """
)
REDEMPTION: Final = text(
    "SELECT redemption_id, customer_id, points, order_id FROM redemptions WHERE redemption_id = :redemption_id"
)
INSERT_REDEMPTION: Final = text(
    "INSERT INTO redemptions (redemption_id, customer_id, points, order_id)"
    " VALUES (:redemption_id, :customer_id, :points, :order_id) ON CONFLICT DO NOTHING RETURNING redemption_id"
)
INSERT_PARTS: Final = text(
    """
    INSERT INTO redemption_parts (redemption_id, order_id, reason, points)
    SELECT :redemption_id, * FROM unnest(CAST(:orders AS text[]), CAST(:reasons AS text[]), CAST(:points AS bigint[]))
    """
)
