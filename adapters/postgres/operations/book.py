"""`OperationBook` on the tables operations, operation_attempts and operation_decisions."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row

from adapters.postgres.operations import statements as sql
from adapters.postgres.wake import WAKE
from domain.canonical import canonical_json
from domain.operations import NewOperation, Operation, Registration, State, Step

_FIELDS: Final = [column.strip() for column in sql.COLUMNS.split(",")]


class PostgresOperationBook:
    """Idempotency keys, outbox and work list in one table; what happened to each operation beside it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def register_each(self, operations: Sequence[NewOperation]) -> Sequence[Registration]:
        first = {operation.key: operation for operation in reversed(operations)}
        if not first:
            return []
        columns = {
            "keys": list(first),
            "kinds": [operation.kind for operation in first.values()],
            "subjects": [operation.subject for operation in first.values()],
            "numbers": [operation.number for operation in first.values()],
            "requests": [operation.request for operation in first.values()],
            "prints": [operation.fingerprint for operation in first.values()],
        }
        new = set(self._connection.execute(sql.REGISTER, columns).scalars())
        known = {key: first[key].fingerprint for key in new}
        if len(new) < len(first):
            rows = self._connection.execute(sql.FINGERPRINTS, {"keys": [key for key in first if key not in new]})
            known |= {row.key: row.fingerprint for row in rows}
        if new:
            self._connection.execute(WAKE)
        registrations = []
        for operation in operations:
            if known[operation.key] != operation.fingerprint:
                registrations.append(Registration.CONFLICT)
            elif operation.key in new:
                new.remove(operation.key)
                registrations.append(Registration.NEW)
            else:
                registrations.append(Registration.KNOWN)
        return registrations

    def withdraw_unsent(self, keys: Sequence[str], reason: str) -> Sequence[str]:
        self._connection.execute(sql.LOCK_EACH, {"keys": list(keys)})
        self._connection.execute(sql.WITHDRAW_UNSENT, {"keys": list(keys), "reason": reason})
        return self._connection.execute(sql.NOT_WITHDRAWN, {"keys": list(keys)}).scalars().all()

    def claim(
        self, kind: str, limit: int, *, lease_seconds: float, worker: str, max_attempts: int, key: str | None = None
    ) -> Sequence[Operation]:
        mine = self._connection.execute(sql.CLAIMED_BEFORE, {"worker": worker, "kind": kind}).all()
        if mine:
            return [operation_of(row) for row in mine]
        claim = {"kind": kind, "limit": limit, "lease_seconds": lease_seconds, "worker": worker}
        rows = self._connection.execute(sql.CLAIM, {**claim, "max_attempts": max_attempts, "key": key})
        claimed = [operation for row in rows if (operation := operation_of(row)).state is State.PROCESSING]
        if claimed:
            self._connection.execute(sql.NOTE_ATTEMPTS, {**_fence(claimed), "worker": worker})
        return claimed

    def gate_each(
        self, operations: Sequence[Operation], *, outlasting_seconds: float, sent_to: str
    ) -> Sequence[Operation]:
        if not operations:
            return []
        asked = {**_fence(operations), "outlasting_seconds": outlasting_seconds, "sent_to": sent_to}
        rows = self._connection.execute(sql.GATE, asked)
        gated = [operation_of(row) for row in rows]
        self._connection.execute(sql.NOTE_SENT, _fence(gated))
        return gated

    def settle_each(self, steps: Sequence[tuple[Operation, Step]]) -> Sequence[str]:
        if not steps:
            return []
        written = self._take_steps(steps, State.PROCESSING)
        self._connection.execute(sql.NOTE_SETTLED, {**_columns(steps), "written": list(written)})
        return written

    def confirm_each(self, steps: Sequence[tuple[Operation, Step]]) -> Sequence[str]:
        if not steps:
            return []
        written = self._take_steps(steps, State.NEEDS_CONFIRMATION)
        for operation, step in steps:
            if operation.key in written and step.state is not State.NEEDS_CONFIRMATION:
                self._note_decision(operation.key, State.NEEDS_CONFIRMATION, step, by="ikkai", evidence="look-up")
        return written

    def _take_steps(self, steps: Sequence[tuple[Operation, Step]], expected: State) -> Sequence[str]:
        return self._connection.execute(sql.SETTLE, {**_columns(steps), "expected": expected}).scalars().all()

    def expired(self, limit: int) -> Sequence[Operation]:
        return [operation_of(row) for row in self._connection.execute(sql.EXPIRED, {"limit": limit})]

    def unconfirmed(self, kinds: Sequence[str], limit: int) -> Sequence[Operation]:
        rows = self._connection.execute(sql.UNCONFIRMED, {"kinds": list(kinds), "limit": limit})
        return [operation_of(row) for row in rows]

    def decide(self, key: str, expected: State, step: Step, *, by: str, evidence: str) -> bool:
        values = {
            "key": key,
            "expected": expected,
            "state": step.state,
            "reason": step.reason,
            "result": canonical_json(dict(step.result)),
            "unsent": step.unsent,
        }
        decided = self._connection.execute(sql.DECIDE, values).one_or_none() is not None
        if decided:
            self._note_decision(key, expected, step, by=by, evidence=evidence)
            self._connection.execute(WAKE)
        return decided

    def _note_decision(self, key: str, expected: State, step: Step, *, by: str, evidence: str) -> None:
        note = {"key": key, "expected": expected, "state": step.state, "reason": step.reason}
        self._connection.execute(sql.NOTE_DECISION, {**note, "by": by, "evidence": evidence})

    def hasten(self, key: str) -> None:
        self._connection.execute(sql.HASTEN, {"key": key})
        self._connection.execute(WAKE)

    def get(self, key: str, *, lock: bool = False) -> Operation | None:
        row = self._connection.execute(sql.GET_LOCKED if lock else sql.GET, {"key": key}).one_or_none()
        return None if row is None else operation_of(row)

    def get_each(self, keys: Sequence[str]) -> Mapping[str, Operation]:
        return {row.key: operation_of(row) for row in self._connection.execute(sql.GET_EACH, {"keys": list(keys)})}

    def of_subject(self, kind: str, subject: str) -> Sequence[Operation]:
        return [
            operation_of(row) for row in self._connection.execute(sql.OF_SUBJECT, {"kind": kind, "subject": subject})
        ]

    def find(
        self,
        *,
        states: Sequence[State] = (),
        kinds: Sequence[str] = (),
        subject: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Operation]:
        asked = {"states": [str(state) for state in states], "kinds": list(kinds), "subject": subject, "limit": limit}
        return [operation_of(row) for row in self._connection.execute(sql.FIND, asked)]

    def due(self, kinds: Sequence[str]) -> Mapping[str, int]:
        return {row.kind: row[1] for row in self._connection.execute(sql.DUE, {"kinds": list(kinds)})}

    def under_way(self) -> int:
        count: int = self._connection.execute(sql.UNDER_WAY).scalar_one()
        return count

    def story(self, key: str) -> Sequence[Mapping[str, Any]]:
        return [dict(row._mapping) for row in self._connection.execute(sql.STORY, {"key": key})]


def _fence(operations: Sequence[Operation]) -> dict[str, list[object]]:
    """What makes a statement write only attempts that are still the caller's."""
    return {"keys": [one.key for one in operations], "epochs": [one.epoch for one in operations]}


def _columns(steps: Sequence[tuple[Operation, Step]]) -> dict[str, list[object]]:
    return {
        **_fence([operation for operation, _ in steps]),
        "states": [str(step.state) for _, step in steps],
        "reasons": [step.reason for _, step in steps],
        "results": [canonical_json(dict(step.result)) for _, step in steps],
        "waits": [step.wait_seconds for _, step in steps],
        "given_back": [int(step.give_back) for _, step in steps],
        "unsent": [step.unsent for _, step in steps],
        "flagged": [step.flagged for _, step in steps],
        "deaths": [int(step.worker_died) for _, step in steps],
    }


def operation_of(row: Row[Any]) -> Operation:
    """The operation among a row's columns."""
    columns = row._mapping
    return Operation(**{**{name: columns[name] for name in _FIELDS}, "state": State(row.state)})
