"""The table of customers."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, text

from domain.customers import Customer

_COLUMNS: Final = "customer_id, email, name, locale, payment_method, payment_customer, closing_day, as_of"
_ENSURE: Final = text(
    "INSERT INTO customers (customer_id) SELECT unnest(CAST(:customers AS text[])) ON CONFLICT DO NOTHING"
)
_KNOWN: Final = text("SELECT customer_id FROM customers WHERE customer_id = ANY(CAST(:customers AS text[]))")
_LOCK: Final = text(
    f"SELECT {_COLUMNS} FROM customers WHERE customer_id = ANY(CAST(:customers AS text[]))"
    " ORDER BY customer_id FOR UPDATE"
)
_SAVE: Final = text(
    """
    UPDATE customers
    SET email = new.email, name = new.name, locale = new.locale, payment_method = new.payment_method,
        payment_customer = new.payment_customer, closing_day = new.closing_day, as_of = new.as_of
    FROM unnest(CAST(:ids AS text[]), CAST(:emails AS text[]), CAST(:names AS text[]), CAST(:locales AS text[]),
                CAST(:methods AS text[]), CAST(:payers AS text[]), CAST(:days AS smallint[]),
                CAST(:moments AS timestamptz[]))
         AS new (customer_id, email, name, locale, payment_method, payment_customer, closing_day, as_of)
    WHERE customers.customer_id = new.customer_id
    """
)


class PostgresCustomerBook:
    """`CustomerBook` on the table customers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ensure(self, customer_ids: Sequence[str]) -> None:
        if customer_ids:
            self._connection.execute(_ENSURE, {"customers": sorted(customer_ids)})

    def known(self, customer_ids: Sequence[str]) -> set[str]:
        return set(self._connection.execute(_KNOWN, {"customers": list(customer_ids)}).scalars())

    def lock(self, customer_ids: Sequence[str]) -> Mapping[str, Customer]:
        rows = self._connection.execute(_LOCK, {"customers": list(customer_ids)})
        return {row.customer_id: Customer(*row) for row in rows}

    def save(self, customers: Sequence[Customer]) -> None:
        if customers:
            self._connection.execute(
                _SAVE,
                {
                    "ids": [customer.customer_id for customer in customers],
                    "emails": [customer.email for customer in customers],
                    "names": [customer.name for customer in customers],
                    "locales": [customer.locale for customer in customers],
                    "methods": [customer.payment_method for customer in customers],
                    "payers": [customer.payment_customer for customer in customers],
                    "days": [customer.closing_day for customer in customers],
                    "moments": [customer.as_of for customer in customers],
                },
            )
