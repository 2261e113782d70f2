"""The unit of work in memory: what a unit did takes the place of what was there, or is thrown away."""

import copy
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from application.transactions import Clock
from domain.errors import LostRace, Unavailable
from tests.fakes.billing import InMemoryBillBook
from tests.fakes.customers import InMemoryCustomerBook
from tests.fakes.messages import InMemoryDeadLetters
from tests.fakes.operations import InMemoryOperationBook
from tests.fakes.orders import InMemoryEventInbox, InMemoryOrderBook
from tests.fakes.payments import InMemoryRefundBook
from tests.fakes.plans import InMemoryPlanBook
from tests.fakes.points import InMemoryPointLedger
from tests.fakes.workers import InMemoryWorkerBook

T = TypeVar("T")

# Three races lost, as a test scripts them; nobody else can move while a unit runs, so one lost again is lost for ever.
RUNS = 4

_open: ContextVar[bool] = ContextVar("in_memory_transaction_open", default=False)


class InMemoryBooks:
    """All books of one shop; it satisfies every context's Protocol of books."""

    def __init__(self, clock: Clock) -> None:
        self.orders = InMemoryOrderBook()
        self.inbox = InMemoryEventInbox(clock)
        self.customers = InMemoryCustomerBook()
        self.ledger = InMemoryPointLedger(clock, self.customers)
        self.operations = InMemoryOperationBook(clock)
        self.plans = InMemoryPlanBook()
        self.bills = InMemoryBillBook(clock, self.customers, self.plans, self.operations)
        self.refunds = InMemoryRefundBook(self.bills, self.operations)
        self.workers = InMemoryWorkerBook(clock)
        self.dead_letters = InMemoryDeadLetters(clock)


class InMemoryTransactions:
    """`Transactions` over books in memory, one unit after the other.

    `books` is what has been committed. `reachable` may be set to false: then no unit runs. `before_unit` runs before
    each, and may end it.
    """

    def __init__(self, clock: Clock) -> None:
        self.books = InMemoryBooks(clock)
        self.reachable = True
        self.before_unit: Callable[[], None] = lambda: None
        self._clock = clock
        self._turn = threading.Lock()
        self._answer_is_lost = False
        self._races_to_lose = 0

    def run(self, work: Callable[[InMemoryBooks], T]) -> T:
        self.assert_none_open()
        self.before_unit()
        if not self.reachable:
            raise Unavailable("the database did not answer")
        for _ in range(RUNS):
            try:
                result = self._once(work)
            except LostRace:
                continue
            if not self._answer_is_lost:
                return result
            self._answer_is_lost = False
        raise Unavailable("the database did not answer: the same race was lost again and again")

    def _once(self, work: Callable[[InMemoryBooks], T]) -> T:
        with self._turn:
            token = _open.set(True)
            try:
                draft = copy.deepcopy(self.books, {id(self._clock): self._clock})
                result = work(draft)
                if self._races_to_lose:
                    self._races_to_lose -= 1
                    raise LostRace("scripted")
                self.books = draft
                return result
            finally:
                _open.reset(token)

    def lose_next_answer(self) -> None:
        """The next COMMIT happens, but its answer never arrives: the unit runs a second time."""
        self._answer_is_lost = True

    def lose_next_races(self, times: int) -> None:
        """The next unit is undone at its end that many times, as by serialization failures, and runs again."""
        self._races_to_lose = times

    def assert_none_open(self) -> None:
        if _open.get():
            raise AssertionError("a transaction is open; leave it before another machine is called")
