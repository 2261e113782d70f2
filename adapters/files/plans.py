"""Subscriptions and items from a file: the members for `read_subscription` and `read_item`."""

from typing import Final

from adapters.files.columns import Columns
from adapters.files.records import MembersFile

subscriptions: Final = MembersFile(
    Columns(
        required=("subscription_id", "customer_id", "plan", "price", "currency", "tax_rate", "tax_included", "start"),
        optional=("end",),
        whole_numbers=("price",),
    )
)
items: Final = MembersFile(
    Columns(
        required=("item_id", "customer_id", "date", "description", "amount", "currency", "tax_rate", "tax_included"),
        signed_numbers=("amount",),
    )
)
