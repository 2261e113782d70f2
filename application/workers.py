"""Who is there to work: workers say that they are alive, and commands do themselves what nobody is there for."""

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Final, Protocol

from application.operations import PerformOperations, ReconcileUnknowns, SweepLeases
from application.transactions import Transactions

SEEN_SECONDS: Final = 2.0  # how often one that is alive says so
ALIVE_SECONDS: Final = 3 * SEEN_SECONDS
LOOK_SECONDS: Final = 0.2
SOON_SECONDS: Final = 5.0  # what is due again so soon is waited for: a silent provider has usually answered by then
# Looking may cost more than that where a million charges are open; then it is done less often.
LEAST_REST: Final = 4.0


class Role(StrEnum):
    WORKER = "worker"
    DISPATCHER = "dispatcher"


class WorkerBook(Protocol):
    """The table of processes that are alive."""

    def seen(self, name: str, role: Role) -> None: ...

    def forget(self, name: str) -> None: ...

    def are_alive(self, within_seconds: float) -> bool:
        """Whether both a worker and a dispatcher have said so within that time."""
        ...


class WorkerBooks(Protocol):
    """The books that signs of life write."""

    @property
    def workers(self) -> WorkerBook: ...


class TellOfWorkers:
    """Signs of life of one process, told and read."""

    def __init__(self, transactions: Transactions[WorkerBooks], name: str) -> None:
        self._transactions = transactions
        self._name = name

    def seen(self, role: Role) -> None:
        """This process is alive."""
        self._transactions.run(lambda books: books.workers.seen(self._name, role))

    def leave(self) -> None:
        """This process ends."""
        self._transactions.run(lambda books: books.workers.forget(self._name))

    def are_alive(self) -> bool:
        """Whether there is anybody to do what is due."""
        return self._transactions.run(lambda books: books.workers.are_alive(ALIVE_SECONDS))


class WorkOff:
    """Waits until something is done by the workers; where none is alive, does one kind of work itself."""

    def __init__(
        self,
        workers: TellOfWorkers,
        perform: PerformOperations,
        sweep: SweepLeases,
        reconcile: ReconcileUnknowns,
        *,
        per_claim: int,
        patience_seconds: float,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._workers = workers
        self._perform = perform
        self._sweep = sweep
        self._reconcile = reconcile
        self._per_claim = per_claim
        self._patience_seconds = patience_seconds
        self._pause = pause

    def is_left_alone(self) -> bool:
        """Whether there is nobody who would go on with what is not done."""
        return not self._workers.are_alive()

    def while_true(self, is_owed: Callable[[], bool], left: Callable[[], int]) -> bool:
        """Returns when `is_owed` has become false (true), or how much is `left` has not changed for long (false)."""
        if self.is_left_alone():
            self._reconcile.execute()  # nobody else looks up what waits for a person
        seen, moved_at = -1, time.monotonic()
        while True:
            began, owed, now_left = time.monotonic(), is_owed(), left()
            if now_left != seen:
                seen, moved_at = now_left, began
            if not owed or began - moved_at > self._patience_seconds:
                return not owed
            if self._workers.are_alive():
                self._pause(max(LOOK_SECONDS, LEAST_REST * (time.monotonic() - began)))
                continue
            self._sweep.execute()  # what an earlier run held when it was killed
            if not self._perform.execute(self._per_claim):
                self._pause(LOOK_SECONDS)
