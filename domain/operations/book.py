"""The book of operations."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from domain.operations.machine import NewOperation, Operation, State, Step


class Registration(StrEnum):
    """What registering an operation came to."""

    NEW = "new"
    KNOWN = "known"
    CONFLICT = "conflict"


class OperationBook(Protocol):
    """The table `operations`: idempotency keys, outbox and work list in one. Each arrow is one fenced statement."""

    def register_each(self, operations: Sequence[NewOperation]) -> Sequence[Registration]:
        """Stores what must happen, in the transaction of the decision; one answer per operation, in their order."""
        ...

    def withdraw_unsent(self, keys: Sequence[str], reason: str) -> Sequence[str]:
        """Refuses those that surely never reached the provider.

        Returns: the others that did, or may have: what must be undone there.
        """
        ...

    def claim(
        self, kind: str, limit: int, *, lease_seconds: float, worker: str, max_attempts: int, key: str | None = None
    ) -> Sequence[Operation]:
        """Takes due work under a lease; what has no attempts left is parked (or, if perhaps sent, held) instead.

        What ended with its worker twice is taken alone: should it end the next one too, it takes no others with it.
        """
        ...

    def gate_each(
        self, operations: Sequence[Operation], *, outlasting_seconds: float, sent_to: str
    ) -> Sequence[Operation]:
        """Marks as sent those still ours whose lease outlasts the call. Returns: only them, with `sent_at`.

        `sent_to` names the provider's account; the first one that an operation may have reached is kept.
        """
        ...

    def settle_each(self, steps: Sequence[tuple[Operation, Step]]) -> Sequence[str]:
        """Writes outcomes of attempts that are still ours.

        Returns: the keys written; the others belong to a newer claim.
        """
        ...

    def expired(self, limit: int) -> Sequence[Operation]:
        """Attempts whose lease is over, locked for settling; those being settled elsewhere are passed over."""
        ...

    def unconfirmed(self, kinds: Sequence[str], limit: int) -> Sequence[Operation]:
        """Operations that wait for a person and are due for another look-up."""
        ...

    def confirm_each(self, steps: Sequence[tuple[Operation, Step]]) -> Sequence[str]:
        """Writes what a look-up found of operations still waiting for a person. Returns: the keys written."""
        ...

    def hasten(self, key: str) -> None:
        """Makes what waits for its time, or for a person, due for another look now."""
        ...

    def get(self, key: str, *, lock: bool = False) -> Operation | None: ...

    def get_each(self, keys: Sequence[str]) -> Mapping[str, Operation]:
        """Those of the given keys that are known."""
        ...

    def of_subject(self, kind: str, subject: str) -> Sequence[Operation]:
        """All operations of one kind for one order, by number."""
        ...

    def find(
        self,
        *,
        states: Sequence[State] = (),
        kinds: Sequence[str] = (),
        subject: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Operation]:
        """Operations to look at, the newest first; all of them unless there is a limit."""
        ...

    def decide(self, key: str, expected: State, step: Step, *, by: str, evidence: str) -> bool:
        """A person's decision, kept with who and why; false when the operation has moved on meanwhile."""
        ...

    def due(self, kinds: Sequence[str]) -> Mapping[str, int]:
        """How much work of each kind is due now (counted up to a bound)."""
        ...

    def under_way(self) -> int:
        """How many are claimed right now."""
        ...

    def story(self, key: str) -> Sequence[Mapping[str, Any]]:
        """Attempts and decisions of one operation in order of time."""
        ...
