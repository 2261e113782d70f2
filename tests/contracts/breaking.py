"""A Postgres that breaks transactions: lost connections at COMMIT, serialization failures, deadlocks."""

from collections.abc import Callable

import psycopg
import pytest
from sqlalchemy import Engine, text

from tests.contracts.stores import PostgresStore


def break_commit(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, *, arrives: bool, number: int = 1
) -> Callable[[], int]:
    """The COMMIT of that number, counted from here, ends with a lost connection, after it arrived or before.

    Returns: asks how many were tried.
    """
    honest, tried = engine.dialect.do_commit, []

    def commit(connection: object) -> None:
        tried.append(connection)
        if arrives or len(tried) != number:
            honest(connection)  # type: ignore[arg-type]
        if len(tried) == number:
            raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(engine.dialect, "do_commit", commit)
    return lambda: len(tried)


def isolate(store: PostgresStore, isolation: str) -> None:
    """Sets the whole database so that it answers races with serialization failures, at COMMIT too."""
    with store.engine.connect() as connection:
        name = connection.execute(text("SELECT quote_ident(current_database())")).scalar_one()
        connection.execute(text(f"ALTER DATABASE {name} SET default_transaction_isolation TO '{isolation}'"))
        connection.commit()
    store.pass_time(0)  # new connections, which take it over
