"""The table of operations in memory."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from application.transactions import Clock
from domain.canonical import fingerprint
from domain.operations import NewOperation, Operation, Registration, State, Step


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds an operation that is being processed, and until when."""

    worker: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one claim."""

    worker: str
    claimed_at: datetime
    sent_at: datetime | None = None
    settled_at: datetime | None = None
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class DecisionMade:
    """Who moved an operation on that waited for a person, and why."""

    key: str
    at: datetime
    by: str
    state: State
    detail: str


class InMemoryOperationBook:
    """`OperationBook` over dictionaries: the operation, its lease while it has one, and its story."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.operations: dict[str, Operation] = {}
        self._leases: dict[str, Lease] = {}
        self._attempts: dict[tuple[str, int], Attempt] = {}
        self._decisions: list[DecisionMade] = []

    def register_each(self, operations: Sequence[NewOperation]) -> Sequence[Registration]:
        return [self._register(operation) for operation in operations]

    def _register(self, new: NewOperation) -> Registration:
        known = self.operations.get(new.key)
        if known is not None:
            same = fingerprint(known.request) == new.fingerprint
            return Registration.KNOWN if same else Registration.CONFLICT
        now = self._clock.now()
        self.operations[new.key] = Operation(
            new.key, new.kind, new.subject, new.number, new.request, State.READY, next_at=now, created_at=now
        )
        return Registration.NEW

    def withdraw_unsent(self, keys: Sequence[str], reason: str) -> Sequence[str]:
        asked = [self.operations[key] for key in sorted({*keys}) if key in self.operations]
        for operation in asked:
            if not operation.was_sent and not operation.state.is_final:
                self._write(replace(operation, state=State.REFUSED, reason=reason, epoch=operation.epoch + 1))
        return [
            operation.key
            for operation in asked
            if operation.state is State.COMPLETED or (operation.was_sent and operation.state is not State.REFUSED)
        ]

    def claim(
        self, kind: str, limit: int, *, lease_seconds: float, worker: str, max_attempts: int, key: str | None = None
    ) -> Sequence[Operation]:
        held = [self.operations[held] for held, lease in self._leases.items() if lease.worker == worker]
        if mine := [operation for operation in held if operation.kind == kind]:
            return mine
        due = [one for one in self._due() if one.kind == kind and key in (None, one.key)]
        claimed = []
        for operation in _without_suspects(sorted(due, key=_next_at)[:limit], max_attempts):
            if operation.attempts >= max_attempts:
                self._give_up(operation)
            else:
                claimed.append(self._claim(operation, worker, lease_seconds))
        return claimed

    def _give_up(self, operation: Operation) -> None:
        given_up = f"given up after {operation.attempts} attempts"
        self._write(
            replace(
                operation,
                state=State.NEEDS_CONFIRMATION if operation.was_sent else State.PARKED,
                reason=given_up if operation.reason is None else f"{given_up}: {operation.reason}",
                epoch=operation.epoch + 1,
                sent_at=None,
            )
        )

    def _claim(self, operation: Operation, worker: str, lease_seconds: float) -> Operation:
        claimed = replace(
            operation,
            state=State.PROCESSING,
            epoch=operation.epoch + 1,
            attempts=operation.attempts + 1,
            sent_at=None,
        )
        now = self._clock.now()
        self.operations[claimed.key] = claimed
        self._leases[claimed.key] = Lease(worker, now + timedelta(seconds=lease_seconds))
        self._attempts[claimed.key, claimed.epoch] = Attempt(worker, now)
        return claimed

    def gate_each(
        self, operations: Sequence[Operation], *, outlasting_seconds: float, sent_to: str
    ) -> Sequence[Operation]:
        now = self._clock.now()
        gated = []
        for held in (self._held(operation, State.PROCESSING) for operation in operations):
            if held is None or self._leases[held.key].until <= now + timedelta(seconds=outlasting_seconds):
                continue
            first = held.first_sent_at or now
            gated.append(replace(held, sent_at=now, first_sent_at=first, sent_to=held.sent_to or sent_to))
            self.operations[held.key] = gated[-1]
            self._attempts[held.key, held.epoch] = replace(self._attempts[held.key, held.epoch], sent_at=now)
        return gated

    def settle_each(self, steps: Sequence[tuple[Operation, Step]]) -> Sequence[str]:
        written = self._take_steps(steps, State.PROCESSING)
        for operation, step in steps:
            if operation.key in written:
                attempt = self._attempts[operation.key, operation.epoch]
                self._attempts[operation.key, operation.epoch] = replace(
                    attempt, settled_at=self._clock.now(), step=step
                )
        return written

    def confirm_each(self, steps: Sequence[tuple[Operation, Step]]) -> Sequence[str]:
        written = self._take_steps(steps, State.NEEDS_CONFIRMATION)
        for operation, step in steps:
            if operation.key in written and step.state is not State.NEEDS_CONFIRMATION:
                self._note_decision(operation.key, step, by="ikkai", evidence="look-up")
        return written

    def _take_steps(self, steps: Sequence[tuple[Operation, Step]], expected: State) -> list[str]:
        written = []
        for operation, step in steps:
            held = self._held(operation, expected)
            if held is None:
                continue
            written.append(held.key)
            self._write(
                replace(
                    held,
                    state=step.state,
                    reason=step.reason,
                    result={**held.result, **step.result},
                    next_at=self._clock.now() + timedelta(seconds=step.wait_seconds),
                    attempts=held.attempts - step.give_back,
                    worker_deaths=held.worker_deaths + step.worker_died,
                    flagged=step.flagged,
                    sent_at=None if step.unsent else held.sent_at,
                    first_sent_at=None if step.unsent else held.first_sent_at,
                    sent_to=None if step.unsent else held.sent_to,
                )
            )
        return written

    def _held(self, operation: Operation, expected: State) -> Operation | None:
        """The operation as it stands, while it is still in the state and the claim that the caller believes."""
        now = self.operations.get(operation.key)
        return now if now is not None and (now.epoch, now.state) == (operation.epoch, expected) else None

    def _write(self, operation: Operation) -> None:
        """Stores an operation that nobody works on (any more)."""
        self.operations[operation.key] = operation
        self._leases.pop(operation.key, None)

    def expired(self, limit: int) -> Sequence[Operation]:
        over = [(lease.until, key) for key, lease in self._leases.items() if lease.until <= self._clock.now()]
        return [self.operations[key] for _, key in sorted(over)[:limit]]

    def unconfirmed(self, kinds: Sequence[str], limit: int) -> Sequence[Operation]:
        now = self._clock.now()
        asked = self.find(states=[State.NEEDS_CONFIRMATION], kinds=kinds)
        waiting = [one for one in asked if not one.flagged and _next_at(one) <= now]
        return sorted(waiting, key=_next_at)[:limit] if kinds else []

    def decide(self, key: str, expected: State, step: Step, *, by: str, evidence: str) -> bool:
        operation = self.operations.get(key)
        if operation is None or operation.state is not expected:
            return False
        self._write(
            replace(
                operation,
                state=step.state,
                reason=step.reason,
                result={**operation.result, **step.result},
                epoch=operation.epoch + 1,
                attempts=0,
                worker_deaths=0,
                flagged=False,
                next_at=self._clock.now(),
                sent_at=None if step.unsent else operation.sent_at,
                first_sent_at=None if step.unsent else operation.first_sent_at,
                sent_to=None if step.unsent else operation.sent_to,
            )
        )
        self._note_decision(key, step, by=by, evidence=evidence)
        return True

    def _note_decision(self, key: str, step: Step, *, by: str, evidence: str) -> None:
        detail = evidence if step.reason is None else f"{step.reason}; {evidence}"
        self._decisions.append(DecisionMade(key, self._clock.now(), by, step.state, detail))

    def hasten(self, key: str) -> None:
        operation = self.operations.get(key)
        if operation is not None and operation.state in (State.READY, State.NEEDS_CONFIRMATION):
            self.operations[key] = replace(operation, next_at=min(_next_at(operation), self._clock.now()))

    def get(self, key: str, *, lock: bool = False) -> Operation | None:
        return self.operations.get(key)

    def get_each(self, keys: Sequence[str]) -> Mapping[str, Operation]:
        return {key: self.operations[key] for key in keys if key in self.operations}

    def of_subject(self, kind: str, subject: str) -> Sequence[Operation]:
        return sorted(self.find(kinds=[kind], subject=subject), key=lambda operation: operation.number)

    def find(
        self,
        *,
        states: Sequence[State] = (),
        kinds: Sequence[str] = (),
        subject: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Operation]:
        found = [
            one
            for one in self.operations.values()
            if (not states or one.state in states)
            and (not kinds or one.kind in kinds)
            and subject in (None, one.subject)
        ]
        found.sort(key=lambda operation: operation.key)
        found.sort(key=_created_at, reverse=True)
        return found[:limit]

    def due(self, kinds: Sequence[str]) -> Mapping[str, int]:
        return Counter(operation.kind for operation in self._due() if operation.kind in kinds)

    def _due(self) -> list[Operation]:
        now = self._clock.now()
        return [one for one in self.operations.values() if one.state is State.READY and _next_at(one) <= now]

    def under_way(self) -> int:
        return len(self._leases)

    def story(self, key: str) -> Sequence[Mapping[str, Any]]:
        lines: list[Mapping[str, Any]] = []
        for (of, _), one in self._attempts.items():
            if of != key:
                continue
            lines.append(_line(one.claimed_at, "claimed", one.worker))
            if one.sent_at is not None:
                lines.append(_line(one.sent_at, "sent", one.worker))
            if one.settled_at is not None and one.step is not None:
                lines.append(_line(one.settled_at, str(one.step.state), one.worker, one.step.reason))
        lines += [
            _line(one.at, f"decided: {one.state}", one.by, one.detail) for one in self._decisions if one.key == key
        ]
        return sorted(lines, key=lambda line: line["at"])


def _line(at: datetime, what: str, who: str, detail: str | None = None) -> Mapping[str, Any]:
    return {"at": at, "what": what, "who": who, "detail": detail}


def _next_at(operation: Operation) -> datetime:
    assert operation.next_at is not None
    return operation.next_at


def _without_suspects(oldest_first: Sequence[Operation], max_attempts: int) -> Sequence[Operation]:
    """What ended with its worker twice is taken alone."""
    suspects = [one for one in oldest_first if one.worker_deaths > 1 and one.attempts < max_attempts]
    if suspects and suspects[0] is oldest_first[0]:
        return suspects[:1]
    return [one for one in oldest_first if one not in suspects]


def _created_at(operation: Operation) -> datetime:
    assert operation.created_at is not None
    return operation.created_at
