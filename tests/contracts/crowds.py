"""Many at once: threads of this process, or processes of their own that meet at a barrier."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.pool import Pool
from multiprocessing.synchronize import Barrier
from threading import Barrier as ThreadBarrier
from typing import Final, TypeVar

from adapters.postgres.engine import open_engine
from adapters.postgres.transactions import PostgresTransactions

T = TypeVar("T")

CROWD: Final = 8  # more than cores, fewer than connections
PATIENCE_SECONDS: Final = 60.0  # a machine of two cores starts eight interpreters in a few seconds


def in_threads(work: Callable[[int], T], crowd: int = CROWD) -> list[T]:
    """Runs `work` in that many threads, all let go at the same moment."""
    start = ThreadBarrier(crowd, timeout=PATIENCE_SECONDS)

    def run(number: int) -> T:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(crowd) as pool:
        return list(pool.map(run, range(crowd)))


class ProcessCrowd:
    """Processes that each do one share of a piece of work, all let go at the same moment."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def run(self, work: Callable[[PostgresTransactions, int], T], database_url: str) -> list[T]:
        """`work` must be a function of a module, so that the other processes find it."""
        shares = [(work, database_url, number) for number in range(CROWD)]
        # One share per process: none gets through the barrier before all have one.
        return self._pool.starmap_async(_share, shares, chunksize=1).get(PATIENCE_SECONDS)


@contextmanager
def process_crowd() -> Iterator[ProcessCrowd]:
    """Fresh interpreters, as workers on other machines are."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(CROWD, initializer=_meet_at, initargs=(context.Barrier(CROWD),)) as pool:
        yield ProcessCrowd(pool)
        pool.close()
        pool.join()


_start: list[Barrier] = []


def _meet_at(barrier: Barrier) -> None:
    _start.append(barrier)


def _share(work: Callable[[PostgresTransactions, int], T], database_url: str, number: int) -> T:
    engine = open_engine(database_url, pool_size=1)
    try:
        transactions = PostgresTransactions(engine)
        transactions.run(lambda _: None)  # connected before the start
        _start[0].wait(PATIENCE_SECONDS)
        return work(transactions, number)
    finally:
        engine.dispose()
