"""Subscriptions and items as a file tells of them: the good rows are stored, the others named."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from application.billing.creation import BillingBooks
from application.transactions import Transactions
from domain.billing.plans import Item, Subscription, read_item, read_subscription
from domain.errors import Conflict, Malformed


class Taken(StrEnum):
    """What became of a row that could be read."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"


Row = Mapping[str, Any] | Malformed
Outcome = Taken | Conflict | Malformed
Told = TypeVar("Told", Subscription, Item)


class ImportSubscriptions:
    """Stores subscriptions; of a known one only the end may change, and never before a billed day."""

    def __init__(self, transactions: Transactions[BillingBooks]) -> None:
        self._transactions = transactions

    def execute(self, rows: Sequence[Row]) -> list[Outcome]:
        """Shape: members of a subscription, or why a row could not be read. Returns: per row, in order."""
        return self._transactions.run(lambda books: self._take(books, _read(rows, read_subscription)))

    def _take(self, books: BillingBooks, rows: Sequence[Subscription | Malformed]) -> list[Outcome]:
        currencies = _currencies(books, rows)
        ids = [row.subscription_id for row in rows if isinstance(row, Subscription)]
        known, billed_through = dict(books.plans.subscriptions(ids)), books.plans.billed_through(ids)

        def take(row: Subscription) -> Taken:
            before = known.get(row.subscription_id)
            if before is not None:
                before.changed_to(row, billed_through.get(row.subscription_id))
            _check_currency(row, currencies)
            known[row.subscription_id] = row
            return Taken.DUPLICATE if before == row else Taken.ACCEPTED

        outcomes = _outcomes(rows, take)
        changed = {
            row.subscription_id
            for row, outcome in zip(rows, outcomes, strict=True)
            if isinstance(row, Subscription) and outcome is Taken.ACCEPTED
        }
        books.plans.save_subscriptions([known[subscription_id] for subscription_id in sorted(changed)])
        return outcomes


class ImportItems:
    """Stores items that are billed once; nothing of a known one may change."""

    def __init__(self, transactions: Transactions[BillingBooks]) -> None:
        self._transactions = transactions

    def execute(self, rows: Sequence[Row]) -> list[Outcome]:
        """Shape: members of an item, or why a row could not be read. Returns: per row, in order."""
        return self._transactions.run(lambda books: self._take(books, _read(rows, read_item)))

    def _take(self, books: BillingBooks, rows: Sequence[Item | Malformed]) -> list[Outcome]:
        currencies = _currencies(books, rows)
        known = dict(books.plans.items([row.item_id for row in rows if isinstance(row, Item)]))
        new = []

        def take(row: Item) -> Taken:
            before = known.get(row.item_id)
            if before == row:
                return Taken.DUPLICATE
            if before is not None:
                raise Conflict(f"item {row.item_id} is known with other content")
            _check_currency(row, currencies)
            known[row.item_id] = row
            new.append(row)
            return Taken.ACCEPTED

        outcomes = _outcomes(rows, take)
        books.plans.add_items(sorted(new, key=lambda item: item.item_id))
        return outcomes


def _read(rows: Sequence[Row], read: Callable[[Mapping[str, Any]], Told]) -> list[Told | Malformed]:
    told: list[Told | Malformed] = []
    for row in rows:
        try:
            told.append(row if isinstance(row, Malformed) else read(row))
        except Malformed as wrong:
            told.append(wrong)
    return told


def _currencies(books: BillingBooks, rows: Sequence[Subscription | Item | Malformed]) -> dict[str, str]:
    """Each customer's currency so far; the customers are made known and locked, so that they stay as they are."""
    customer_ids = sorted({row.customer_id for row in rows if not isinstance(row, Malformed)})
    books.customers.ensure(customer_ids)
    books.customers.lock(customer_ids)
    return dict(books.plans.currencies(customer_ids))


def _check_currency(row: Subscription | Item, currencies: dict[str, str]) -> None:
    """A customer has one currency, that of the first price. Raises: Malformed naming `currency`."""
    currency = currencies.setdefault(row.customer_id, row.price.currency)
    if row.price.currency != currency:
        raise Malformed("currency", f"customer {row.customer_id} pays in {currency}")


def _outcomes(rows: Sequence[Told | Malformed], take: Callable[[Told], Taken]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for row in rows:
        try:
            outcomes.append(row if isinstance(row, Malformed) else take(row))
        except (Conflict, Malformed) as reason:
            outcomes.append(reason)
    return outcomes
