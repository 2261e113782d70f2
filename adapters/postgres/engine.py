"""Connections to Postgres, each with the limits that keep one slow statement from stopping the rest."""

from datetime import timedelta
from typing import Final

import psycopg
from psycopg.types.array import ListBinaryDumper
from psycopg.types.string import StrBinaryDumper
from sqlalchemy import URL, Engine, create_engine, make_url
from sqlalchemy.event import listen

# Units: milliseconds. Longest measured set takes well under a second; these are alarms, not tuning.
STATEMENT_TIMEOUT: Final = 60_000
LOCK_TIMEOUT: Final = 10_000
IDLE_IN_TRANSACTION_TIMEOUT: Final = 60_000


def driver_url(url: str) -> URL:
    """The database as SQLAlchemy names it, always over psycopg 3."""
    return make_url(url).set(drivername="postgresql+psycopg")


def open_engine(url: str, *, pool_size: int = 5, clock_offset: timedelta | None = None) -> Engine:
    """A pool for one process, opened on first use. `clock_offset` shifts `ikkai_now()`, in tests only."""
    settings = {
        "statement_timeout": STATEMENT_TIMEOUT,
        "lock_timeout": LOCK_TIMEOUT,
        "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION_TIMEOUT,
        "timezone": "UTC",
    }
    if clock_offset is not None:
        settings["ikkai.clock_offset"] = f"{clock_offset.total_seconds():.6f}s"
    engine = create_engine(
        driver_url(url),
        hide_parameters=True,  # an error's text is logged and stored; names and addresses must not be in it
        pool_size=pool_size,
        max_overflow=pool_size,
        # No prepared statements: a migration next door breaks them, and poolers in transaction mode know none.
        connect_args={
            "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
            "prepare_threshold": None,
            "connect_timeout": 10,
        },
    )
    listen(engine, "connect", _send_arrays_in_binary)
    return engine


def _send_arrays_in_binary(connection: psycopg.Connection, _: object) -> None:
    """Escaping every quote of a thousand JSON documents would cost more than storing them."""
    connection.adapters.register_dumper(str, StrBinaryDumper)
    connection.adapters.register_dumper(list, ListBinaryDumper)
