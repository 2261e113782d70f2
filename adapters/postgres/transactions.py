"""The one place that commits."""

from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from typing import Final, TypeVar

import psycopg
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from adapters.postgres.billing import PostgresBillBook, PostgresPlanBook
from adapters.postgres.customers import PostgresCustomerBook
from adapters.postgres.dead_letters import PostgresDeadLetters
from adapters.postgres.operations import PostgresOperationBook
from adapters.postgres.orders import PostgresEventInbox, PostgresOrderBook
from adapters.postgres.payments import PostgresRefundBook
from adapters.postgres.points import PostgresPointLedger
from adapters.postgres.workers import PostgresWorkerBook
from domain.errors import LostRace, Unavailable

T = TypeVar("T")

PATIENCE_SECONDS: Final = 15.0  # an immediate restart of Postgres takes a few

# Serialization failure, deadlock, lock timeout; cancelled for its length, shut down, crashed, starting up;
# out of disk, memory or connections; read-only for now (a failover), or idle for too long.
_TRANSIENT_STATES: Final = {
    *("40001", "40P01", "55P03"),
    *("57014", "57P01", "57P02", "57P03"),
    *("53100", "53200", "53300", "53400", "58030"),
    *("25006", "25P03", "25P04", "57P04", "57P05"),
}

_open: Final[ContextVar[bool]] = ContextVar("transaction_open", default=False)


class PostgresBooks:
    """All books on one connection, inside one transaction; it satisfies every context's Protocol of books."""

    def __init__(self, connection: Connection) -> None:
        self.orders = PostgresOrderBook(connection)
        self.inbox = PostgresEventInbox(connection)
        self.customers = PostgresCustomerBook(connection)
        self.ledger = PostgresPointLedger(connection)
        self.plans = PostgresPlanBook(connection)
        self.bills = PostgresBillBook(connection)
        self.refunds = PostgresRefundBook(connection)
        self.operations = PostgresOperationBook(connection)
        self.workers = PostgresWorkerBook(connection)
        self.dead_letters = PostgresDeadLetters(connection)


class PostgresTransactions:
    """Runs units of work; starts a unit again from the beginning when Postgres says that this may help.

    An error at COMMIT says nothing about what happened: the unit runs again and reads by key what is there.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def run(self, work: Callable[[PostgresBooks], T]) -> T:
        self.assert_none_open()
        return _patiently(lambda: self._once(work))

    def _once(self, work: Callable[[PostgresBooks], T]) -> T:
        token = _open.set(True)
        try:
            with self._engine.begin() as connection:
                return work(PostgresBooks(connection))
        finally:
            _open.reset(token)

    def assert_none_open(self) -> None:
        if _open.get():
            raise AssertionError("a transaction is open; leave it before another machine is called")


class PostgresClock:
    """The database's clock, so that machines with wrong ones agree on leases and days."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def now(self) -> datetime:
        """Raises: Unavailable"""
        return _patiently(self._read)

    def _read(self) -> datetime:
        with self._engine.connect() as connection:
            moment: datetime = connection.execute(text("SELECT ikkai_now()")).scalar_one()
            return moment


def _patiently(unit: Callable[[], T]) -> T:
    """Does it again while that may help. Raises: Unavailable when patience is at its end."""
    retrying = Retrying(
        retry=retry_if_exception(_is_transient),
        wait=wait_random_exponential(multiplier=0.02, max=1.0),
        stop=stop_after_delay(PATIENCE_SECONDS),
        reraise=True,
    )
    try:
        return retrying(unit)
    except (DBAPIError, LostRace) as failure:
        if _is_transient(failure):
            raise Unavailable(f"the database did not answer: {str(failure).splitlines()[0]}") from failure
        raise


def _is_transient(failure: BaseException) -> bool:
    if isinstance(failure, LostRace):
        return True
    if not isinstance(failure, DBAPIError):
        return False
    state: str | None = getattr(failure.orig, "sqlstate", None)
    if state is None:
        return failure.connection_invalidated or isinstance(failure.orig, psycopg.OperationalError)
    return state in _TRANSIENT_STATES or state.startswith("08")
