"""Who wakes the workers: due work is rung for, dead workers' leases are swept, unknown outcomes looked up.

A message is only a doorbell: losing, doubling or delaying one changes nothing but latency.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from application.operations import OperationBooks, ReconcileUnknowns, SweepLeases
from application.transactions import Transactions
from domain.errors import Unavailable
from domain.orders.events import EventInbox

logger = logging.getLogger(__name__)

ORDER_EVENT: Final = "order-event"


class Doorbell(Protocol):
    """The queue, as far as we trust it. Raises: Unavailable when it cannot be reached."""

    def ring(self, kind: str, times: int) -> None:
        """Wakes up to `times` workers for one kind of work."""
        ...


class DueBooks(OperationBooks, Protocol):
    """The books in which due work stands."""

    @property
    def inbox(self) -> EventInbox: ...


class RingDueWork:
    """Rings for what is due: once per set that a worker takes at a time, up to a few at once."""

    def __init__(
        self,
        transactions: Transactions[DueBooks],
        doorbell: Doorbell,
        set_sizes: Mapping[str, int],
        *,
        most_rings: int = 8,
    ) -> None:
        self._transactions = transactions
        self._doorbell = doorbell
        self._set_sizes = set_sizes
        self._most_rings = most_rings

    def execute(self) -> Mapping[str, int]:
        """Returns: how much of each kind is due."""
        due = self._transactions.run(self._due)
        for kind, count in due.items():
            if count:
                self._doorbell.ring(kind, min(math.ceil(count / self._set_sizes[kind]), self._most_rings))
        return due

    def _due(self, books: DueBooks) -> dict[str, int]:
        kinds = [kind for kind in self._set_sizes if kind != ORDER_EVENT]
        return {ORDER_EVENT: books.inbox.due(), **books.operations.due(kinds)}


class OwedWork:
    """How much is due or under way right now; nothing of both is what "idle" means."""

    def __init__(self, transactions: Transactions[DueBooks], kinds: Sequence[str]) -> None:
        self._transactions = transactions
        self._kinds = kinds

    def execute(self) -> int:
        """What waits for its time or for a person is not counted."""

        def count(books: DueBooks) -> int:
            return books.inbox.due() + sum(books.operations.due(self._kinds).values()) + books.operations.under_way()

        return self._transactions.run(count)


class Dispatch:
    """The rounds of the dispatcher. May run in many processes at once; not jobs, so no job can block them.

    Whatever fails in one round is tried again in the next: nothing may end the rounds.
    """

    def __init__(self, ring: RingDueWork, sweep: SweepLeases, reconcile: ReconcileUnknowns) -> None:
        self._ring = ring
        self._sweep = sweep
        self._reconcile = reconcile

    def ring(self) -> None:
        """Rings for due work."""
        _attempt(self._ring.execute)

    def sweep(self) -> None:
        """Frees what dead workers held."""
        _attempt(self._sweep.execute)

    def reconcile(self) -> None:
        """Looks up outcomes that nobody knows."""
        _attempt(self._reconcile.execute)


def _attempt(work: Callable[[], object]) -> None:
    try:
        work()
    except Unavailable as failure:
        logger.warning("put off to the next round: %s", failure)
    except Exception:
        logger.exception("put off to the next round: our own fault")
