"""Two transactions at once in Postgres: the second waits for the first, or must not."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

from sqlalchemy import text

from tests.contracts.stores import Books, PostgresStore

T = TypeVar("T")

DEADLINE_SECONDS: Final = 10.0
_WAITING: Final = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


class FirstFails(Exception):
    """The first transaction ends in a rollback."""


def until_somebody_waits(store: PostgresStore, meanwhile: Future[T]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    with store.engine.connect() as connection:
        while not meanwhile.done() and not connection.execute(_WAITING).scalar_one():
            assert time.monotonic() < deadline, "the second transaction neither waited nor ended"
            connection.rollback()  # the view of the activity is one transaction's
            time.sleep(0.01)


def second(
    store: PostgresStore, first: Callable[[Books], object], then: Callable[[Books], T], *, first_commits: bool = True
) -> T:
    """What `then` answers that began when `first` had done its work but not ended."""
    with ThreadPoolExecutor(1) as pool:

        def work(books: Books) -> Future[T]:
            first(books)
            answer = pool.submit(store.run, then)
            until_somebody_waits(store, answer)
            assert not answer.done(), "the second transaction did not wait for the first"
            answers.append(answer)
            if not first_commits:
                raise FirstFails
            return answer

        answers: list[Future[T]] = []
        try:
            store.run(work)
        except FirstFails:
            assert not first_commits
        return answers[0].result(DEADLINE_SECONDS)


def beside(store: PostgresStore, first: Callable[[Books], object], then: Callable[[Books], T]) -> T:
    """What `then` answers while `first` has done its work and stays open: it must not wait."""
    with ThreadPoolExecutor(1) as pool:

        def work(books: Books) -> T:
            first(books)
            return pool.submit(store.run, then).result(DEADLINE_SECONDS)

        return store.run(work)
