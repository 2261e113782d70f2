"""The tables as the migrations leave them (a test compares the two). No foreign keys between contexts: D-004."""

from adapters.postgres.tables import billing, operations, orders, payments, points, workers
from adapters.postgres.tables.columns import metadata

__all__ = ["billing", "metadata", "operations", "orders", "payments", "points", "workers"]
