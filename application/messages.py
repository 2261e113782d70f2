"""Messages nobody could take: kept where people look, never dropped."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from application.transactions import Transactions


class DeadLetters(Protocol):
    """The book of messages that no actor could take."""

    def keep(self, queue: str, body: bytes, reason: str) -> None:
        """Keeps a message as it came; the same one on the same queue is kept once."""
        ...

    def find(self, limit: int | None) -> Sequence[Mapping[str, Any]]:
        """The newest first."""
        ...


class MessageBooks(Protocol):
    """The books that a broken message writes."""

    @property
    def dead_letters(self) -> DeadLetters: ...


class KeepDeadLetter:
    """Keeps a message that could not be read, has no actor, or was refused."""

    def __init__(self, transactions: Transactions[MessageBooks]) -> None:
        self._transactions = transactions

    def execute(self, queue: str, body: bytes, reason: str) -> None:
        # A reason may quote the message: what no text column can hold is written out.
        shown = reason.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")[:1000]
        self._transactions.run(lambda books: books.dead_letters.keep(queue, body, shown))


class ReadDeadLetters:
    """Dead letters to look at."""

    def __init__(self, transactions: Transactions[MessageBooks]) -> None:
        self._transactions = transactions

    def execute(self, limit: int | None = None) -> Sequence[Mapping[str, Any]]:
        return self._transactions.run(lambda books: books.dead_letters.find(limit))
