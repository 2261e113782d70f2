"""Doing what is due: claim, gate, call, settle."""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from application.transactions import Clock, Transactions
from domain.operations import (
    Answer,
    Finding,
    LookUp,
    Operation,
    OperationBook,
    Outcome,
    Policy,
    RetryPolicy,
    State,
    Step,
    may_send,
    next_step,
)

# What may pass between the gate's commit and the first byte, and between the answer and our reading it.
GATE_MARGIN_SECONDS: Final = 1.0

FOUND: Final = "found by look-up"


class OperationBooks(Protocol):
    """The books that doing an operation writes."""

    @property
    def operations(self) -> OperationBook: ...


class Performer(Protocol):
    """One kind of work: how its machine is asked. Knows no transaction and no state."""

    @property
    def kind(self) -> str: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def provider(self) -> str:
        """Names the account that requests go to, without its secret, and whether it knows keys."""
        ...

    def foregone(self, books: OperationBooks, operations: Sequence[Operation]) -> Mapping[str, Answer]:
        """Answers, by key, that our own books give already, so that nobody needs to be asked."""
        ...

    def call_each(self, operations: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        """Sends each frozen request at once; one answer each, in their order.

        Nothing is sent or waited for past the deadline, which counts from `began` (monotonic seconds, before the gate):
        a process that stood still since then no longer holds the lease.
        """
        ...

    def look_up_each(self, operations: Sequence[Operation]) -> Sequence[LookUp]:
        """Asks what became of requests sent before, by reference; one finding each, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class Timing:
    """Units: seconds. A lease must outlast a look-up and a call, both of which end by the deadline."""

    call_deadline_seconds: float = 10.0
    lease_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.lease_seconds < self.shortest_lease_seconds:
            raise ValueError(
                f"the lease must be at least {self.shortest_lease_seconds:g} s, twice the deadline and a margin"
            )

    @property
    def gate_seconds(self) -> float:
        """How much of the lease must be left when something is sent."""
        return self.call_deadline_seconds + GATE_MARGIN_SECONDS

    @property
    def shortest_lease_seconds(self) -> float:
        return 2 * self.gate_seconds


class PerformOperations:
    """Does the due work of one kind: claim, gate, call, settle, each in a commit of its own and no call within one."""

    def __init__(
        self,
        transactions: Transactions[OperationBooks],
        performer: Performer,
        retry_policy: RetryPolicy,
        timing: Timing,
        clock: Clock,
        *,
        worker: str,
        at_once: int = 1,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transactions = transactions
        self._performer = performer
        self._retry_policy = retry_policy
        self._timing = timing
        self._clock = clock
        self._worker = worker
        self._at_once = at_once
        self._claims = itertools.count(1)
        self._monotonic = monotonic

    def execute(self, limit: int, *, key: str | None = None, stopping: Callable[[], bool] = lambda: False) -> int:
        """Works on up to `limit` due operations, or on the one named; when `stopping`, nothing more is sent.

        Returns: how many were claimed.
        """
        # A name per claim: should its COMMIT be answered by silence, the unit runs again and finds its own claim.
        claimant = f"{self._worker}/{next(self._claims)}"
        claimed, answers = self._transactions.run(lambda books: self._claim(books, limit, claimant, key))
        steps = [(one, self._step(one, answers[one.key])) for one in claimed if one.key in answers]
        unanswered = [operation for operation in claimed if operation.key not in answers]
        to_send = [operation for operation in unanswered if not operation.was_sent]
        for operation, found in self._look_up([operation for operation in unanswered if operation.was_sent]):
            if found is None:
                to_send.append(operation)
            else:
                steps.append((operation, found))
        while steps or to_send:
            if stopping():
                steps += [(operation, _held_back("this worker is stopping")) for operation in to_send]
                to_send = []
            steps, to_send = self._settle_and_send(steps, to_send[: self._at_once]), to_send[self._at_once :]
        return len(claimed)

    def _claim(
        self, books: OperationBooks, limit: int, claimant: str, key: str | None
    ) -> tuple[Sequence[Operation], Mapping[str, Answer]]:
        claimed = books.operations.claim(
            self._performer.kind,
            limit,
            lease_seconds=self._timing.lease_seconds,
            worker=claimant,
            max_attempts=self._retry_policy.max_attempts,
            key=key,
        )
        return claimed, self._performer.foregone(books, claimed) if claimed else {}

    def _step(self, operation: Operation, answer: Answer) -> Step:
        return next_step(operation, answer, self._performer.policy, self._retry_policy)

    def _may_send(self, operation: Operation, now: datetime) -> bool:
        performer = self._performer
        return may_send(operation, performer.policy, now, self._retry_policy, performer.provider)

    def _look_up(self, sent_before: Sequence[Operation]) -> list[tuple[Operation, Step | None]]:
        """What became of earlier sends; no step for what the provider does not know and may be sent again."""
        if not sent_before:
            return []
        self._transactions.assert_none_open()
        now = self._clock.now()
        found: list[tuple[Operation, Step | None]] = []
        for operation, look_up in zip(sent_before, self._performer.look_up_each(sent_before), strict=True):
            match look_up.finding:
                case Finding.FOUND:
                    step: Step | None = Step(State.COMPLETED, look_up.reason or FOUND, look_up.result)
                case Finding.RUNNING:
                    step = self._step(operation, Answer(Outcome.RUNNING, look_up.reason, look_up.result))
                case Finding.REFUSED:
                    step = self._step(operation, Answer(Outcome.REFUSED, look_up.reason, look_up.result))
                case Finding.FLAGGED:
                    step = self._step(operation, Answer(Outcome.FLAGGED, look_up.reason, look_up.result))
                case Finding.NO_ANSWER:
                    step = self._step(operation, Answer(Outcome.NOT_SENT, look_up.reason))
                case Finding.UNCLEAR:
                    step = self._step(operation, Answer(Outcome.UNKNOWN, look_up.reason))
                case Finding.NOT_FOUND if self._may_send(operation, now):
                    step = None
                case Finding.NOT_FOUND:
                    step = Step(
                        State.NEEDS_CONFIRMATION, "sent before and not found by look-up; it must not be sent again"
                    )
            found.append((operation, step))
        return found

    def _settle_and_send(
        self, steps: Sequence[tuple[Operation, Step]], operations: Sequence[Operation]
    ) -> list[tuple[Operation, Step]]:
        """Writes what is known, gates what comes next in the same commit, and sends it. Returns: what came of that."""
        before = self._monotonic()

        def settle_and_gate(books: OperationBooks) -> Sequence[Operation]:
            books.operations.settle_each(steps)
            return books.operations.gate_each(
                operations, outlasting_seconds=self._timing.gate_seconds, sent_to=self._performer.provider
            )

        gated = self._transactions.run(settle_and_gate)
        passed = {operation.key for operation in gated}
        came = [(one, _held_back("the lease was nearly over")) for one in operations if one.key not in passed]
        # A process may have been frozen between the gate and here; then its lease no longer covers the call.
        if self._monotonic() - before > GATE_MARGIN_SECONDS:
            late = Answer(Outcome.NOT_SENT, "this worker stood still before it could send")
            return came + [(operation, self._step(operation, late)) for operation in gated]
        if gated:
            self._transactions.assert_none_open()
            answers = self._performer.call_each(gated, began=before)
            came += [(one, self._step(one, answer)) for one, answer in zip(gated, answers, strict=True)]
        return came


def _held_back(why: str) -> Step:
    """Never came to its turn; due at once, and the attempt does not count."""
    return Step(State.READY, f"held back: {why}", give_back=True)
