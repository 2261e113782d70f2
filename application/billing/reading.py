"""A customer's bills to look at."""

from collections.abc import Mapping, Sequence
from typing import Any

from application.billing.creation import BillingBooks
from application.transactions import Transactions
from domain.billing.book import StoredBill
from domain.keys import identifier


class ReadBills:
    """Bills with their lines, and what became of each."""

    def __init__(self, transactions: Transactions[BillingBooks]) -> None:
        self._transactions = transactions

    def of_customer(self, customer_id: object) -> tuple[Sequence[StoredBill], Sequence[Mapping[str, Any]]]:
        """Returns: the bills by month, and all their lines in the same order."""
        known = identifier("customer_id", customer_id)
        return self._transactions.run(lambda books: (books.bills.of_customer(known), books.bills.lines(known)))
