"""A customer's bills and refunds to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from application.billing.runner import PaymentBooks
from application.transactions import Transactions
from domain.billing.book import StoredBill
from domain.keys import identifier
from domain.payments import Refund


@dataclass(frozen=True, slots=True)
class CustomerBills:
    """A customer's bills by month, all their lines and their taxes per rate in the same order, and what went back."""

    bills: Sequence[StoredBill]
    lines: Sequence[Mapping[str, Any]]
    taxes: Sequence[Mapping[str, Any]]
    refunds: Sequence[Refund]


class ReadBills:
    """Bills with their lines, and what became of each."""

    def __init__(self, transactions: Transactions[PaymentBooks]) -> None:
        self._transactions = transactions

    def of_customer(self, customer_id: object) -> CustomerBills:
        known = identifier("customer_id", customer_id)
        return self._transactions.run(
            lambda books: CustomerBills(
                books.bills.of_customer(known),
                books.bills.lines(known),
                books.bills.taxes(known),
                books.refunds.of_customer(known),
            )
        )
