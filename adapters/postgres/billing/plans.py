"""`PlanBook` on the tables subscriptions and items."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from sqlalchemy import Connection, Row, TextClause, text

from domain.billing.plans import Item, Subscription, Tax
from domain.errors import LostRace
from domain.money import Money

SUBSCRIPTION_COLUMNS: Final = (
    "subscription_id, customer_id, plan, price, currency, tax_ppm, tax_included, start_on, end_on"
)
ITEM_COLUMNS: Final = "item_id, customer_id, date, description, amount, currency, tax_ppm, tax_included"

_SUBSCRIPTIONS: Final = text(
    f"SELECT {SUBSCRIPTION_COLUMNS} FROM subscriptions WHERE subscription_id = ANY(CAST(:ids AS text[]))"
)
_ITEMS: Final = text(f"SELECT {ITEM_COLUMNS} FROM items WHERE item_id = ANY(CAST(:ids AS text[]))")
_CURRENCIES: Final = text(
    """
    SELECT asked.customer_id, found.currency
    FROM unnest(CAST(:customers AS text[])) AS asked (customer_id)
    CROSS JOIN LATERAL (
        (SELECT currency FROM subscriptions WHERE customer_id = asked.customer_id LIMIT 1)
        UNION
        (SELECT currency FROM items WHERE customer_id = asked.customer_id LIMIT 1)
        LIMIT 1
    ) AS found
    """
)
_BILLED_THROUGH: Final = text(
    """
    SELECT source, max(last_day) AS last_day FROM bill_lines
    WHERE source = ANY(CAST(:ids AS text[])) AND kind IN ('subscription', 'arrears')
    GROUP BY source
    """
)
_SAVE_SUBSCRIPTIONS: Final = text(
    f"""
    INSERT INTO subscriptions ({SUBSCRIPTION_COLUMNS})
    SELECT * FROM unnest(CAST(:ids AS text[]), CAST(:customers AS text[]), CAST(:plans AS text[]),
                         CAST(:prices AS bigint[]), CAST(:currencies AS text[]), CAST(:ppm AS int[]),
                         CAST(:included AS bool[]), CAST(:starts AS date[]), CAST(:ends AS date[]))
    ON CONFLICT (subscription_id) DO UPDATE SET end_on = excluded.end_on, settled = false
    WHERE (subscriptions.customer_id, subscriptions.plan, subscriptions.price, subscriptions.currency,
           subscriptions.tax_ppm, subscriptions.tax_included, subscriptions.start_on)
        = (excluded.customer_id, excluded.plan, excluded.price, excluded.currency,
           excluded.tax_ppm, excluded.tax_included, excluded.start_on)
    RETURNING subscription_id
    """
)
_ADD_ITEMS: Final = text(
    f"""
    INSERT INTO items ({ITEM_COLUMNS})
    SELECT * FROM unnest(CAST(:ids AS text[]), CAST(:customers AS text[]), CAST(:dates AS date[]),
                         CAST(:descriptions AS text[]), CAST(:amounts AS bigint[]), CAST(:currencies AS text[]),
                         CAST(:ppm AS int[]), CAST(:included AS bool[]))
    ON CONFLICT DO NOTHING RETURNING item_id
    """
)


class PostgresPlanBook:
    """Subscriptions and items as rows."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def subscriptions(self, subscription_ids: Sequence[str]) -> Mapping[str, Subscription]:
        rows = self._connection.execute(_SUBSCRIPTIONS, {"ids": list(subscription_ids)})
        return {row.subscription_id: subscription_of(row) for row in rows}

    def items(self, item_ids: Sequence[str]) -> Mapping[str, Item]:
        return {row.item_id: item_of(row) for row in self._connection.execute(_ITEMS, {"ids": list(item_ids)})}

    def currencies(self, customer_ids: Sequence[str]) -> Mapping[str, str]:
        rows = self._connection.execute(_CURRENCIES, {"customers": list(customer_ids)})
        return {row.customer_id: row.currency for row in rows}

    def billed_through(self, subscription_ids: Sequence[str]) -> Mapping[str, date]:
        rows = self._connection.execute(_BILLED_THROUGH, {"ids": list(subscription_ids)})
        return {row.source: row.last_day for row in rows}

    def save_subscriptions(self, subscriptions: Sequence[Subscription]) -> None:
        if subscriptions:
            self._store(
                _SAVE_SUBSCRIPTIONS,
                {
                    "ids": [one.subscription_id for one in subscriptions],
                    "customers": [one.customer_id for one in subscriptions],
                    "plans": [one.plan for one in subscriptions],
                    "prices": [one.price.amount for one in subscriptions],
                    "currencies": [one.price.currency for one in subscriptions],
                    "ppm": [one.tax.ppm for one in subscriptions],
                    "included": [one.tax.included for one in subscriptions],
                    "starts": [one.start for one in subscriptions],
                    "ends": [one.end for one in subscriptions],
                },
            )

    def add_items(self, items: Sequence[Item]) -> None:
        if items:
            self._store(
                _ADD_ITEMS,
                {
                    "ids": [item.item_id for item in items],
                    "customers": [item.customer_id for item in items],
                    "dates": [item.date for item in items],
                    "descriptions": [item.description for item in items],
                    "amounts": [item.price.amount for item in items],
                    "currencies": [item.price.currency for item in items],
                    "ppm": [item.tax.ppm for item in items],
                    "included": [item.tax.included for item in items],
                },
            )

    def _store(self, statement: TextClause, columns: dict[str, list[Any]]) -> None:
        if len(self._connection.execute(statement, columns).all()) < len(columns["ids"]):
            raise LostRace("an id was taken meanwhile, for another customer")  # whose lock is not ours


def subscription_of(row: Row[Any]) -> Subscription:
    """A row of subscriptions as what it means."""
    price, tax = Money(row.price, row.currency), Tax(row.tax_ppm, row.tax_included)
    return Subscription(row.subscription_id, row.customer_id, row.plan, price, tax, row.start_on, row.end_on)


def item_of(row: Row[Any]) -> Item:
    """A row of items as what it means."""
    price, tax = Money(row.amount, row.currency), Tax(row.tax_ppm, row.tax_included)
    return Item(row.item_id, row.customer_id, row.date, row.description, price, tax)
