"""The table of operations: `statements` holds the arrows of the state machine as SQL, `book` sends them."""

from adapters.postgres.operations.book import PostgresOperationBook

__all__ = ["PostgresOperationBook"]
