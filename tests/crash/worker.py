"""A worker that ends itself at an exact point: `python -m tests.crash.worker`, the point in its environment.

The product knows nothing of this: the objects that its container makes are replaced from outside.
"""

import os
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import typer

from adapters.http.shipping import HttpShippingGateway
from adapters.postgres.operations import PostgresOperationBook
from adapters.postgres.transactions import PostgresBooks, PostgresTransactions
from domain.operations import Answer, Operation, Step
from entrypoints import worker
from entrypoints.container import Container

# The points, in the order in which a request passes them. Between the gate and the answer, where the request is on
# its way, it is the test that strikes: it sees at the carrier when.
CLAIMED: Final = "claimed"  # our row committed, nothing else
GATED: Final = "gated"  # marked as sent, not a byte sent
ANSWERED: Final = "answered"  # answer in hand, nothing written
SETTLED: Final = "settled"  # all written, the message not acknowledged

POINT: Final = "CRASH_AT"
SUBJECT: Final = "CRASH_ON"  # an order id; without it, any order
SIGNAL: Final = "CRASH_BY"  # the name of a signal; each worker sends it to itself once

T = TypeVar("T")


class Passed(list[tuple[str, str]]):
    """The points that one unit of work has passed, each with its order."""

    def note(self, point: str, operations: Sequence[Operation]) -> None:
        self.extend((point, operation.subject) for operation in operations)


class WatchedOperationBook(PostgresOperationBook):
    """Tells which points a transaction passes; they count when it has committed."""

    def __init__(self, watched: PostgresOperationBook, passed: Passed) -> None:
        super().__init__(watched._connection)
        self._passed = passed

    def claim(self, kind: str, limit: int, **how: Any) -> Sequence[Operation]:
        claimed = super().claim(kind, limit, **how)
        self._passed.note(CLAIMED, claimed)
        return claimed

    def gate_each(self, operations: Sequence[Operation], *, outlasting_seconds: float) -> Sequence[Operation]:
        gated = super().gate_each(operations, outlasting_seconds=outlasting_seconds)
        self._passed.note(GATED, gated)
        return gated

    def settle_each(self, steps: Sequence[tuple[Operation, Step]]) -> Sequence[str]:
        self._passed.note(SETTLED, [operation for operation, _ in steps])
        return super().settle_each(steps)


class WatchedTransactions(PostgresTransactions):
    def run(self, work: Callable[[PostgresBooks], T]) -> T:
        passed = Passed()

        def watched(books: PostgresBooks) -> T:
            passed.clear()
            books.operations = WatchedOperationBook(books.operations, passed)
            return work(books)

        result = super().run(watched)
        _strike(passed)
        return result


class WatchedGateway(HttpShippingGateway):
    def request_each(self, parcels: Sequence[Operation], *, began: float | None = None) -> Sequence[Answer]:
        answers = super().request_each(parcels, began=began)
        passed = Passed()
        passed.note(ANSWERED, parcels)
        _strike(passed)
        return answers


def _strike(passed: Passed) -> None:
    point, subject = os.environ.get(POINT), os.environ.get(SUBJECT)
    if any(at == point and subject in (None, on) for at, on in passed):
        del os.environ[POINT]
        # To this very thread: sent to the process, it would go on until another one has been woken to take the signal.
        signal.pthread_kill(threading.get_ident(), signal.Signals[os.environ[SIGNAL]])


if __name__ == "__main__":
    Container.transactions.set_provides(WatchedTransactions)
    Container.shipping_gateway.set_provides(WatchedGateway)
    typer.run(worker.main)
