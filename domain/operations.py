"""Everything outside Postgres that must happen once: one state machine, and one table that says how per kind of work.

ready      -> processing          claim: epoch + 1, attempts + 1, a lease
processing -> processing          gate: `sent_at`, only while the lease outlasts the call's deadline
processing -> any other           settle, by `next_step`
ready      -> parked              attempts exhausted, surely never sent
ready      -> needs_confirmation  attempts exhausted, perhaps sent
parked     -> ready               retry by a person
needs_confirmation -> completed | refused | ready   look-up or a person, with evidence
unsent     -> refused             a decision made it needless
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Protocol


class Policy(StrEnum):
    """How "once" is kept (record first, or record after), and so what a crash in the middle means."""

    IN_TRANSACTION = "in_transaction"  # a unique constraint and the effect commit together
    PROVIDER_KEY = "provider_key"  # record first; the provider knows our key, so the same request may be sent again
    CONFIRM = "confirm"  # record first; the provider knows no keys, so at most one send, then a person
    RESEND = "resend"  # record after; a second copy is better than none, a third is not
    OVERWRITE = "overwrite"  # no record; the result only replaces itself
    TOLERATED = "tolerated"  # at least once; a repeat annoys nobody


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """The policy of one kind of work, where its provider honours keys and where it does not."""

    with_keys: Policy
    without_keys: Policy


def _same(policy: Policy) -> KindPolicy:
    return KindPolicy(policy, policy)


# One line per kind; work that is not listed here cannot be registered.
KINDS: Final[Mapping[str, KindPolicy]] = {
    "point-grant": _same(Policy.IN_TRANSACTION),
    "point-reversal": _same(Policy.IN_TRANSACTION),
    "order-event": _same(Policy.IN_TRANSACTION),
    "shipment-request": KindPolicy(Policy.PROVIDER_KEY, Policy.CONFIRM),
    "shipment-cancel": KindPolicy(Policy.PROVIDER_KEY, Policy.CONFIRM),
}


class State(StrEnum):
    READY = "ready"
    PROCESSING = "processing"
    COMPLETED = "completed"
    REFUSED = "refused"
    NEEDS_CONFIRMATION = "needs_confirmation"
    PARKED = "parked"

    @property
    def is_final(self) -> bool:
        return self in (State.COMPLETED, State.REFUSED)

    @property
    def waits_for_a_person(self) -> bool:
        return self in (State.NEEDS_CONFIRMATION, State.PARKED)


@dataclass(frozen=True, slots=True)
class NewOperation:
    """Something that must happen outside, with the request frozen as it will be sent.

    Key: the business fact (`domain.keys`). Shape: `request` is canonical JSON, sent byte for byte each time.
    """

    key: str
    kind: str
    subject: str
    number: int
    request: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS or KINDS[self.kind].with_keys is Policy.IN_TRANSACTION:
            raise ValueError(f"no policy for work outside is written down for {self.kind!r}")

    @property
    def fingerprint(self) -> bytes:
        return fingerprint(self.request)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation as it stands.

    `epoch` counts claims and fences every write; `attempts` counts the claims that were not given back.
    """

    key: str
    kind: str
    subject: str
    number: int
    request: str
    state: State
    epoch: int = 0
    attempts: int = 0
    first_sent_at: datetime | None = None
    sent_at: datetime | None = None
    next_at: datetime | None = None
    reason: str | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None

    @property
    def was_sent(self) -> bool:
        """Whether any attempt may have reached the provider."""
        return self.first_sent_at is not None

    @property
    def content(self) -> Mapping[str, Any]:
        """The frozen request, read."""
        content: Mapping[str, Any] = json.loads(self.request)
        return content


class Outcome(StrEnum):
    """What became of one call, as the adapter sorts it."""

    DONE = "done"
    REFUSED = "refused"  # a definite no: it did not happen and will not
    NOT_SENT = "not_sent"  # surely nothing reached the provider
    THROTTLED = "throttled"  # 429: not taken, come back later
    RUNNING = "running"  # our own earlier request, or an accepted one, is still being worked on
    UNAVAILABLE = "unavailable"  # 5xx: perhaps done, perhaps not
    UNKNOWN = "unknown"  # silence, a broken answer, or one that cannot be believed
    FLAGGED = "flagged"  # done or not, the answer asks for a person


@dataclass(frozen=True, slots=True)
class Answer:
    """One call's outcome with what the provider said. `result` is kept when it is done or still running."""

    outcome: Outcome
    reason: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    retry_after_seconds: float | None = None


class Finding(StrEnum):
    """What a look-up by reference says of a request that was sent before."""

    FOUND = "found"
    RUNNING = "running"
    NOT_FOUND = "not_found"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True)
class LookUp:
    """A look-up's finding; `result` as the call itself would have given it."""

    finding: Finding
    reason: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """Where an operation goes from here, and when it is due again. `give_back`: the attempt does not count."""

    state: State
    reason: str | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    wait_seconds: float = 0.0
    give_back: bool = False
    unsent: bool = False


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the machine waits and how often it tries. Units: seconds, and claims."""

    first_retry_seconds: float = 2.0
    max_retry_seconds: float = 600.0
    max_attempts: int = 10
    key_window_seconds: float = 86_400.0
    key_window_margin_seconds: float = 3_600.0

    def wait_seconds(self, operation: Operation, at_least: float | None = None) -> float:
        """Doubles per claim; a provider's wish is a floor. Spread by the key: a crowd must not come back at once."""
        doubled = self.first_retry_seconds * 2.0 ** min(max(operation.epoch - 1, 0), 30)
        spread = 0.75 + hashlib.sha256(operation.key.encode()).digest()[0] / 1024
        wait = min(doubled, self.max_retry_seconds) * spread
        return max(wait, min(at_least or 0.0, self.max_retry_seconds))


def policy_of(kind: str, *, honours_keys: bool) -> Policy:
    """How this kind of work is kept to once at this provider."""
    row = KINDS[kind]
    return row.with_keys if honours_keys else row.without_keys


def may_send(operation: Operation, policy: Policy, now: datetime, patience: Patience) -> bool:
    """Whether a request that a look-up did not find may go out (again) under its key."""
    if operation.first_sent_at is None or policy is Policy.RESEND:
        return True
    window = timedelta(seconds=patience.key_window_seconds - patience.key_window_margin_seconds)
    return policy is Policy.PROVIDER_KEY and now < operation.first_sent_at + window


def next_step(operation: Operation, answer: Answer, policy: Policy, patience: Patience) -> Step:
    """The one place that decides what a call's outcome means."""
    wait = patience.wait_seconds(operation, answer.retry_after_seconds)
    first_send = operation.sent_at is not None and operation.sent_at == operation.first_sent_at
    match answer.outcome:
        case Outcome.DONE:
            return Step(State.COMPLETED, answer.reason or None, answer.result)
        case Outcome.REFUSED:
            return Step(State.REFUSED, answer.reason, answer.result)
        case Outcome.FLAGGED:
            return Step(State.NEEDS_CONFIRMATION, answer.reason, answer.result)
        case Outcome.NOT_SENT | Outcome.THROTTLED:
            return Step(State.READY, answer.reason, wait_seconds=wait, give_back=True, unsent=first_send)
        case Outcome.RUNNING:
            return Step(State.READY, answer.reason, answer.result, wait_seconds=wait, give_back=True)
        case Outcome.UNAVAILABLE | Outcome.UNKNOWN:
            return after_unknown(operation, answer.reason, policy, patience, wait)


def after_unknown(
    operation: Operation, reason: str, policy: Policy, patience: Patience, wait_seconds: float = 0.0
) -> Step:
    """A send of unknown fate: again under the same key where the provider knows it, else a person decides."""
    if policy in (Policy.PROVIDER_KEY, Policy.RESEND) and operation.attempts < patience.max_attempts:
        return Step(State.READY, reason, wait_seconds=wait_seconds)
    return Step(State.NEEDS_CONFIRMATION, reason)


def canonical_json(content: object) -> str:
    """One text for one content: sorted keys, no white space, no floats by way of the callers' checks."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def fingerprint(text: str) -> bytes:
    """What tells the same key with other content apart. Shape: 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


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
        """Takes due work under a lease; what has no attempts left is parked (or, if perhaps sent, held) instead."""
        ...

    def gate_each(self, operations: Sequence[Operation], *, outlasting_seconds: float) -> Sequence[Operation]:
        """Marks as sent those still ours whose lease outlasts the call. Returns: only them, with `sent_at`."""
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

    def get(self, key: str, *, lock: bool = False) -> Operation | None: ...

    def of_subject(self, kind: str, subject: str) -> Sequence[Operation]:
        """All operations of one kind for one order, by number."""
        ...

    def find(
        self, *, states: Sequence[State] = (), kinds: Sequence[str] = (), subject: str | None = None, limit: int | None = None
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
