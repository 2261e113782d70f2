"""Where use cases run: they wait for the database, and the event loop must not."""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

T = TypeVar("T")


class UseCaseThreads:
    """As many threads as the pool has connections: who has a thread need not wait for a connection."""

    def __init__(self, threads: int) -> None:
        self._limiter = CapacityLimiter(threads)

    async def run(self, work: Callable[[], T]) -> T:
        """Does `work` to its end, even if the caller has gone meanwhile."""
        return await to_thread.run_sync(work, limiter=self._limiter)
