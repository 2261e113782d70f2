"""Billing in sets: who is due, what is known of them, their bills."""

from typing import Final

from sqlalchemy import text

from adapters.postgres.billing.plans import ITEM_COLUMNS, SUBSCRIPTION_COLUMNS
from adapters.postgres.operations.statements import OF_OPERATION

OPEN_RUN: Final = text(
    "INSERT INTO billing_runs (month, time_zone, rounding) VALUES (:month, :time_zone, :rounding)"
    " ON CONFLICT DO NOTHING"
)
TERMS: Final = text("SELECT time_zone, rounding FROM billing_runs WHERE month = :month")

FIRST_MONTH: Final = text(
    """
    SELECT min(month) FROM (
        SELECT min(month) FROM billing_runs WHERE month < :month
        UNION ALL
        SELECT to_char(min(start_on), 'YYYY-MM') FROM subscriptions WHERE NOT settled
    ) AS first (month)
    WHERE month < :month
    """
)
_AMONG: Final = "(cardinality(CAST(:among AS text[])) = 0 OR {}.customer_id = ANY(CAST(:among AS text[])))"
# A few too many: whether anything is due is for the rules to say.
_MAY_BE_DUE: Final = """(
    EXISTS (
        SELECT FROM subscriptions WHERE customer_id = customer.customer_id AND start_on <= :until
          AND (end_on IS NULL OR end_on >= :since OR NOT settled)
    )
    OR EXISTS (SELECT FROM items WHERE customer_id = customer.customer_id AND month IS NULL AND date <= :until)
    OR EXISTS (
        SELECT FROM bills WHERE customer_id = customer.customer_id AND month < :month
          AND settlement = 'carried' AND carried_to IS NULL
    )
)"""
CLOSING_DAY: Final = text(
    f"SELECT max(closing_day) FROM customers AS customer WHERE {_AMONG.format('customer')} AND {_MAY_BE_DUE}"
)
UNBILLED: Final = text(
    f"""
    SELECT customer_id FROM customers AS customer
    WHERE customer_id > :after AND {_AMONG.format("customer")}
      AND NOT EXISTS (SELECT FROM bills WHERE customer_id = customer.customer_id AND month = :month)
      AND {_MAY_BE_DUE}
    ORDER BY customer_id LIMIT :limit
    """
)
BILLED: Final = text(f"SELECT count(*) FROM bills AS bill WHERE month = :month AND {_AMONG.format('bill')}")

_PAYERS: Final = """
    SELECT customer_id, closing_day, payment_method, payment_customer FROM customers
    WHERE customer_id = ANY(CAST(:customers AS text[])) ORDER BY customer_id
"""
PAYERS: Final = text(_PAYERS)
# Only one transaction at a time bills a customer, or changes what they have.
LOCK_PAYERS: Final = text(_PAYERS + " FOR UPDATE")
PERIODS: Final = text(
    """
    SELECT customer_id, month, period_start, period_end FROM bills
    WHERE customer_id = ANY(CAST(:customers AS text[])) AND month = ANY(CAST(:months AS text[]))
    """
)
ALL_PERIODS: Final = text(
    "SELECT customer_id, month, period_start, period_end FROM bills WHERE customer_id = ANY(CAST(:customers AS text[]))"
)
SUBSCRIPTIONS: Final = text(
    f"""
    SELECT {SUBSCRIPTION_COLUMNS}, settled FROM subscriptions
    WHERE customer_id = ANY(CAST(:customers AS text[])) AND start_on <= :until
      AND (end_on IS NULL OR end_on >= :since OR NOT settled)
    ORDER BY subscription_id
    """
)
ITEMS: Final = text(
    f"""
    SELECT {ITEM_COLUMNS} FROM items
    WHERE customer_id = ANY(CAST(:customers AS text[])) AND month IS NULL AND date <= :until ORDER BY date, item_id
    """
)
CARRIED: Final = text(
    """
    SELECT customer_id, month, total, currency FROM bills
    WHERE customer_id = ANY(CAST(:customers AS text[])) AND month < :month
      AND settlement = 'carried' AND carried_to IS NULL
    ORDER BY month
    """
)
BILLED_DAYS: Final = text(
    """
    SELECT source, first_day, last_day FROM bill_lines
    WHERE source = ANY(CAST(:subscriptions AS text[])) AND kind IN ('subscription', 'arrears') ORDER BY first_day
    """
)

NOW: Final = text("SELECT ikkai_now()")
TAKE_NUMBERS: Final = text(
    """
    INSERT INTO bill_numbers (year, last) VALUES (:year, :count)
    ON CONFLICT (year) DO UPDATE SET last = bill_numbers.last + excluded.last
    RETURNING last
    """
)
INSERT_BILLS: Final = text(
    """
    INSERT INTO bills (customer_id, month, year, number, period_start, period_end, currency, total, taxes, settlement,
                       attempt, charge_key, issued_at)
    SELECT customer_id, :month, :year, number, period_start, period_end, currency, total, CAST(taxes AS jsonb),
           settlement, CASE WHEN charge_key IS NULL THEN 0 ELSE 1 END, charge_key, :now
    FROM unnest(CAST(:customers AS text[]), CAST(:numbers AS bigint[]), CAST(:starts AS date[]), CAST(:ends AS date[]),
                CAST(:currencies AS text[]), CAST(:totals AS bigint[]), CAST(:taxes AS text[]),
                CAST(:settlements AS text[]), CAST(:charges AS text[]))
         AS new (customer_id, number, period_start, period_end, currency, total, taxes, settlement, charge_key)
    ON CONFLICT (customer_id, month) DO NOTHING
    RETURNING customer_id
    """
)
INSERT_LINES: Final = text(
    """
    INSERT INTO bill_lines (customer_id, month, line, kind, source, text, amount, tax_ppm, tax_included, tax,
                            first_day, last_day)
    SELECT customer_id, :month, line, kind, source, text, amount, ppm, included, tax, first_day, last_day
    FROM unnest(CAST(:customers AS text[]), CAST(:lines AS int[]), CAST(:kinds AS text[]),
                CAST(:sources AS text[]), CAST(:texts AS text[]), CAST(:amounts AS bigint[]), CAST(:ppm AS int[]),
                CAST(:included AS bool[]), CAST(:taxes AS bigint[]), CAST(:firsts AS date[]), CAST(:lasts AS date[]))
         AS new (customer_id, line, kind, source, text, amount, ppm, included, tax, first_day, last_day)
    """
)
MARK_ITEMS: Final = text("UPDATE items SET month = :month WHERE item_id = ANY(CAST(:items AS text[]))")
MARK_CARRIED: Final = text(
    """
    UPDATE bills SET carried_to = :month
    FROM unnest(CAST(:customers AS text[]), CAST(:months AS text[])) AS carried (customer_id, month)
    WHERE bills.customer_id = carried.customer_id AND bills.month = carried.month
    """
)
MARK_SETTLED: Final = text(
    "UPDATE subscriptions SET settled = true"
    " WHERE customer_id = ANY(CAST(:customers AS text[])) AND NOT settled AND start_on <= :until"
)

_STORED: Final = """
    bill.customer_id, bill.month, bill.year, bill.number AS bill_number, bill.total, bill.currency, bill.settlement,
    bill.attempt
"""
_BILL: Final = f"""
    SELECT {_STORED}, {OF_OPERATION}
    FROM bills AS bill LEFT JOIN operations AS operation ON operation.key = bill.charge_key
"""
GET: Final = text(f"{_BILL} WHERE bill.customer_id = :customer_id AND bill.month = :month")
OF_CUSTOMER: Final = text(f"{_BILL} WHERE bill.customer_id = :customer_id ORDER BY bill.month")
LINES: Final = text(
    """
    SELECT month, text, source, first_day, last_day, amount, trim_scale(tax_ppm / 10000.0)::text AS tax_rate,
           tax_included, tax
    FROM bill_lines WHERE customer_id = :customer_id ORDER BY month, line
    """
)
LOCK_BILL: Final = text("SELECT FROM bills WHERE customer_id = :customer_id AND month = :month FOR UPDATE")
TAXES: Final = text(
    """
    SELECT month, (issued_at)::date AS issued_on, trim_scale(rate.ppm / 10000.0)::text AS tax_rate, rate.gross, rate.tax
    FROM bills, jsonb_to_recordset(taxes) AS rate (ppm int, gross bigint, tax bigint)
    WHERE customer_id = :customer_id ORDER BY month, rate.ppm
    """
)
NOTE_ATTEMPT: Final = text(
    "UPDATE bills SET attempt = :attempt, charge_key = :key WHERE customer_id = :customer_id AND month = :month"
)
TALLY: Final = text(
    """
    SELECT bill.settlement, operation.state,
           coalesce(operation.state = 'refused' AND operation.result ->> 'status' = :canceled, false) AS stopped,
           bill.currency, count(*) AS bills, sum(bill.total) AS total
    FROM bills AS bill LEFT JOIN operations AS operation ON operation.key = bill.charge_key
    WHERE bill.month = :month GROUP BY 1, 2, 3, 4
    """
)
TOTALS: Final = text(
    "SELECT customer_id, total, currency FROM bills WHERE month = :month AND customer_id > :after"
    " ORDER BY customer_id LIMIT :limit"
)
WAITING: Final = text(
    f"""
    SELECT {_STORED}, {OF_OPERATION} FROM bills AS bill JOIN operations AS operation ON operation.key = bill.charge_key
    WHERE bill.month = :month
      AND (operation.state IN ('needs_confirmation', 'parked')
           OR operation.state = 'refused' AND operation.result ->> 'status' IS DISTINCT FROM :canceled
           OR operation.state = 'ready')
    ORDER BY bill.customer_id LIMIT :limit
    """
)
IS_CHARGING: Final = text(
    """
    SELECT EXISTS (
        SELECT FROM operations AS operation JOIN bills AS bill ON bill.charge_key = operation.key
        WHERE operation.kind = 'billing' AND operation.state = 'processing' AND bill.month = :month
    ) OR EXISTS (
        SELECT FROM operations AS operation JOIN bills AS bill ON bill.charge_key = operation.key
        WHERE operation.kind = 'billing' AND operation.state = 'ready' AND bill.month = :month
          AND operation.next_at <= ikkai_now() + make_interval(secs => :within_seconds)
    )
    """
)
