"""Customers from a file: the members for `customer_fields`, of which an empty cell tells nothing."""

from typing import Final

from adapters.files.columns import Columns
from adapters.files.records import MembersFile

customers: Final = MembersFile(
    Columns(
        required=("customer_id",),
        optional=("email", "name", "locale", "payment_method", "payment_customer", "closing_day"),
        whole_numbers=("closing_day",),
    )
)
