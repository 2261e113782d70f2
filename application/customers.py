"""Customers as a file or a person tells us of them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from application.transactions import Clock, Transactions
from domain.customers import CustomerBook, CustomerUpdate, customer_fields
from domain.errors import Malformed
from domain.keys import identifier


class CustomerBooks(Protocol):
    """The books that news of customers write."""

    @property
    def customers(self) -> CustomerBook: ...


class UpdateCustomers:
    """Stores what is told of many customers, as of now; telling the same again changes nothing."""

    def __init__(self, transactions: Transactions[CustomerBooks], clock: Clock) -> None:
        self._transactions = transactions
        self._clock = clock

    def execute(self, rows: Sequence[Mapping[str, Any] | Malformed]) -> list[Malformed | bool]:
        """Shape: `customer_id` and the fields to set; a row that could not be read is its `Malformed`.

        Returns: per row, in order: why it was refused, or whether it changed anything.
        """
        now = self._clock.now()
        news = [_news(row, now) for row in rows]
        good = [one for one in news if isinstance(one, CustomerUpdate)]

        def tell(books: CustomerBooks) -> list[bool]:
            ids = sorted({one.customer_id for one in good})
            books.customers.ensure(ids)
            known = dict(books.customers.lock(ids))
            changed = []
            for one in good:
                before = known[one.customer_id]
                after = before.updated_by(one)
                changed.append(after is not None and (before.as_of is None or _differs(before, one)))
                known[one.customer_id] = after or before
            books.customers.save([known[customer_id] for customer_id in ids])
            return changed

        changes = iter(self._transactions.run(tell) if good else [])
        return [next(changes) if isinstance(one, CustomerUpdate) else one for one in news]


def _news(row: Mapping[str, Any] | Malformed, now: Any) -> CustomerUpdate | Malformed:
    if isinstance(row, Malformed):
        return row
    try:
        return CustomerUpdate(identifier("customer_id", row.get("customer_id")), now, customer_fields(row))
    except Malformed as wrong:
        return wrong


def _differs(customer: object, update: CustomerUpdate) -> bool:
    return any(getattr(customer, name) != value for name, value in update.fields.items())
