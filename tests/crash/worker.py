"""A worker that ends itself at an exact point: `python -m tests.crash.worker`, the point in its environment.

The product knows nothing of this: the objects that its container makes are replaced from outside.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Protocol, TypeVar

import typer

from adapters.http.shipping import HttpShippingGateway
from adapters.postgres.operations import PostgresOperationBook
from adapters.postgres.transactions import PostgresBooks, PostgresTransactions
from adapters.stripe.payments import StripePaymentGateway
from domain.operations import Answer, Operation, Step
from entrypoints import worker
from entrypoints.container import Container

# The points, in the order in which a request passes them. Between the gate and the answer, where the request is on
# its way, it is the test that strikes: it sees at the provider when.
CLAIMED: Final = "claimed"  # our row committed, nothing else
GATED: Final = "gated"  # marked as sent, not a byte sent
HANDED_OVER: Final = "handed over"  # every check of ours passed, in the hands of the gateway, not a byte sent
ANSWERED: Final = "answered"  # answer in hand, nothing written
SETTLED: Final = "settled"  # all written, the message not acknowledged

POINT: Final = "CRASH_AT"
SUBJECTS: Final = "CRASH_ON"  # ids of orders and customers, with commas
SIGNAL: Final = "CRASH_BY"  # the name of a signal; each worker sends it to itself once

T = TypeVar("T")


class Ambush:
    """Lets no subject go past the point until all have come there; then the process strikes itself."""

    def __init__(self) -> None:
        self._point = os.environ.get(POINT)
        self._awaited = set(os.environ.get(SUBJECTS, "").split(","))
        self._lock = threading.Lock()
        self._over = threading.Event()

    def note(self, point: str, operations: Iterable[Operation]) -> None:
        """These have come so far."""
        here = {operation.subject for operation in operations} if point == self._point else set()
        if self._over.is_set() or not here & self._awaited:
            return
        with self._lock:
            self._awaited -= here
            if not self._awaited:
                # To this very thread: sent to the process, it would go on until another one has been woken to take
                # the signal.
                signal.pthread_kill(threading.get_ident(), signal.Signals[os.environ[SIGNAL]])
                self._over.set()
        self._over.wait()


ambush: Final = Ambush()


class WatchedOperationBook(PostgresOperationBook):
    """Tells which points a transaction passes; they count when it has committed."""

    def __init__(self, watched: PostgresOperationBook, passed: list[tuple[str, Sequence[Operation]]]) -> None:
        super().__init__(watched._connection)
        self._passed = passed

    def claim(self, kind: str, limit: int, **how: Any) -> Sequence[Operation]:
        claimed = super().claim(kind, limit, **how)
        self._passed.append((CLAIMED, claimed))
        return claimed

    def gate_each(
        self, operations: Sequence[Operation], *, outlasting_seconds: float, sent_to: str
    ) -> Sequence[Operation]:
        gated = super().gate_each(operations, outlasting_seconds=outlasting_seconds, sent_to=sent_to)
        self._passed.append((GATED, gated))
        return gated

    def settle_each(self, steps: Sequence[tuple[Operation, Step]]) -> Sequence[str]:
        self._passed.append((SETTLED, [operation for operation, _ in steps]))
        return super().settle_each(steps)


class WatchedTransactions(PostgresTransactions):
    def run(self, work: Callable[[PostgresBooks], T]) -> T:
        passed: list[tuple[str, Sequence[Operation]]] = []

        def watched(books: PostgresBooks) -> T:
            passed.clear()
            books.operations = WatchedOperationBook(books.operations, passed)
            return work(books)

        result = super().run(watched)
        for point, operations in passed:
            ambush.note(point, operations)
        return result


class Call(Protocol):
    """How a gateway is asked for something."""

    def __call__(self, operations: Sequence[Operation], /, *, began: float | None = None) -> Sequence[Answer]: ...


def watched(call: Call, operations: Sequence[Operation], began: float | None) -> Sequence[Answer]:
    ambush.note(HANDED_OVER, operations)
    answers = call(operations, began=began)
    ambush.note(ANSWERED, operations)
    return answers


class WatchedShippingGateway(HttpShippingGateway):
    def request_each(self, parcels: Sequence[Operation], *, began: float | None = None) -> Sequence[Answer]:
        return watched(super().request_each, parcels, began)


class WatchedPaymentGateway(StripePaymentGateway):
    def charge_each(self, charges: Sequence[Operation], *, began: float | None = None) -> Sequence[Answer]:
        return watched(super().charge_each, charges, began)

    def refund_each(self, refunds: Sequence[Operation], *, began: float | None = None) -> Sequence[Answer]:
        return watched(super().refund_each, refunds, began)


if __name__ == "__main__":
    Container.transactions.set_provides(WatchedTransactions)
    Container.shipping_gateway.set_provides(WatchedShippingGateway)
    Container.payment_gateway.set_provides(WatchedPaymentGateway)
    typer.run(worker.main)
