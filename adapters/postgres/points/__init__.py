"""The ledger of points in Postgres."""

from adapters.postgres.points.ledger import PostgresPointLedger

__all__ = ["PostgresPointLedger"]
