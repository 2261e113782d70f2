"""The tables of orders (`book`) and of the events that tell of them (`inbox`)."""

from adapters.postgres.orders.book import PostgresOrderBook
from adapters.postgres.orders.inbox import PostgresEventInbox

__all__ = ["PostgresEventInbox", "PostgresOrderBook"]
