"""The two stores that every contract is tested on, one in memory and one in Postgres, handled alike."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol, TypeVar

from sqlalchemy import Engine, text

from adapters.postgres.engine import open_engine
from adapters.postgres.transactions import PostgresClock, PostgresTransactions
from application.messages import DeadLetters
from application.transactions import Transactions
from application.workers import WorkerBook
from domain.billing.book import BillBook, PlanBook
from domain.customers import CustomerBook
from domain.operations import OperationBook
from domain.orders.events import EventInbox
from domain.orders.rules import OrderBook
from domain.payments import RefundBook
from domain.points import EntryKind, PointLedger
from tests.contracts.crowds import CROWD
from tests.contracts.identities import Tally, in_memory_tallies, postgres_tallies
from tests.fakes.clock import FakeClock
from tests.fakes.transactions import InMemoryTransactions

T = TypeVar("T")


class Books(Protocol):
    """Every book there is."""

    @property
    def orders(self) -> OrderBook: ...
    @property
    def inbox(self) -> EventInbox: ...
    @property
    def customers(self) -> CustomerBook: ...
    @property
    def ledger(self) -> PointLedger: ...
    @property
    def operations(self) -> OperationBook: ...
    @property
    def plans(self) -> PlanBook: ...
    @property
    def bills(self) -> BillBook: ...
    @property
    def refunds(self) -> RefundBook: ...
    @property
    def workers(self) -> WorkerBook: ...
    @property
    def dead_letters(self) -> DeadLetters: ...


class Runner(Protocol):
    """Whatever runs units of work."""

    def run(self, work: Callable[[Books], T]) -> T:
        """One transaction."""
        ...


class Store(Runner, Protocol):
    """Books, the clock they read, and what a test must be able to do behind their backs."""

    @property
    def transactions(self) -> Transactions[Books]: ...

    def now(self) -> datetime: ...

    def pass_time(self, seconds: float) -> None:
        """Moves the books' clock ahead."""
        ...

    def lower(self, kind: EntryKind, customer_id: str, order_id: str, points: int) -> None:
        """Takes points out of an order's lot as redeeming or expiring will."""
        ...

    def tallies(self) -> Sequence[Tally]:
        """What balances, entries and lots say of each customer."""
        ...


class InMemoryStore:
    """`Store` over the fakes."""

    def __init__(self) -> None:
        self._clock = FakeClock()
        self.transactions = InMemoryTransactions(self._clock)

    def run(self, work: Callable[[Books], T]) -> T:
        return self.transactions.run(work)

    def now(self) -> datetime:
        return self._clock.now()

    def pass_time(self, seconds: float) -> None:
        self._clock.advance(seconds)

    def lower(self, kind: EntryKind, customer_id: str, order_id: str, points: int) -> None:
        self.transactions.books.ledger.lower(kind, customer_id, (order_id, "order_confirmed"), points)

    def tallies(self) -> Sequence[Tally]:
        return in_memory_tallies(self.transactions.books.ledger)


_LOWER: Final = text(
    """
    WITH lot AS (
        UPDATE point_lots SET remaining = remaining - :points,
               expired = expired + CASE WHEN CAST(:kind AS text) = 'expire' THEN :points ELSE 0 END
        WHERE order_id = :order_id AND reason = 'order_confirmed' AND customer_id = :customer_id
    ), balance AS (
        UPDATE point_balances SET balance = balance - :points WHERE customer_id = :customer_id
    )
    INSERT INTO point_entries (customer_id, kind, points, order_id, reason, cause)
    VALUES (:customer_id, :kind, -CAST(:points AS bigint), :order_id, 'order_confirmed', gen_random_uuid()::text)
    """
)


class PostgresStore:
    """`Store` over a database of this test's own."""

    def __init__(self, database_url: str) -> None:
        self.database_url = database_url
        self._ahead = timedelta(0)
        self._open()

    def _open(self) -> None:
        self.engine: Engine = open_engine(self.database_url, pool_size=CROWD, clock_offset=self._ahead)
        self.transactions = PostgresTransactions(self.engine)

    def close(self) -> None:
        self.engine.dispose()

    def run(self, work: Callable[[Books], T]) -> T:
        return self.transactions.run(work)

    def now(self) -> datetime:
        return PostgresClock(self.engine).now()

    def pass_time(self, seconds: float) -> None:
        self.close()
        self._ahead += timedelta(seconds=seconds)
        self._open()

    def lower(self, kind: EntryKind, customer_id: str, order_id: str, points: int) -> None:
        lowered = {"kind": kind, "customer_id": customer_id, "order_id": order_id, "points": points}
        with self.engine.begin() as connection:
            connection.execute(_LOWER, lowered)

    def tallies(self) -> Sequence[Tally]:
        return postgres_tallies(self.engine)
