"""The unit of work as use cases see it."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeVar

Books_co = TypeVar("Books_co", covariant=True)
T = TypeVar("T")


class Transactions(Protocol[Books_co]):
    """Where use cases, and only they, open transactions."""

    def run(self, work: Callable[[Books_co], T]) -> T:
        """Does all of `work` in one transaction, or nothing of it.

        `work` may be called again from the start (lost races, deadlocks, a lost connection, even one lost at COMMIT),
        so it must be once by key and must not leave the database.
        Raises: Unavailable when the database could not be reached; what `work` raises, after a rollback.
        """
        ...

    def assert_none_open(self) -> None:
        """Stops a call to another machine from within a transaction. Raises: AssertionError."""
        ...


class Clock(Protocol):
    """The one clock that leases, due times and business days are read from: the database's."""

    def now(self) -> datetime: ...
