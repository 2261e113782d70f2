"""The state machine of one operation: what it is, what a call can come to, and where it goes from there."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from domain.canonical import fingerprint
from domain.operations.policies import KINDS, Policy

MAX_COPIES: Final = 2  # of a mail whose first copy met an unknown fate; a third is not better than none


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

    `epoch` counts claims and fences every write; `attempts` counts the claims that were not given back; `sent_to` names
    the account at the provider that it may have reached first.
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
    sent_to: str | None = None
    next_at: datetime | None = None
    reason: str | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    flagged: bool = False
    worker_deaths: int = 0
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
    """One call's outcome with what the provider said. `result` is kept whatever came of it."""

    outcome: Outcome
    reason: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    retry_after_seconds: float | None = None


class Finding(StrEnum):
    """What a look-up by reference says of a request that was sent before."""

    FOUND = "found"
    RUNNING = "running"
    NOT_FOUND = "not_found"
    REFUSED = "refused"  # accepted at first, then definitely not done
    FLAGGED = "flagged"  # what is found does not fit; a person must look
    NO_ANSWER = "no_answer"
    UNCLEAR = "unclear"  # it answers, but never what would settle it: not for ever, then


@dataclass(frozen=True, slots=True)
class LookUp:
    """A look-up's finding; `result` as the call itself would have given it."""

    finding: Finding
    reason: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """Where an operation goes from here, and when it is due again.

    `give_back`: the attempt does not count. `unsent`: nothing was ever sent. `flagged`: the provider's answer asks for
    a person, so no look-up may settle it. `worker_died`: whoever held it ended meanwhile.
    """

    state: State
    reason: str | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    wait_seconds: float = 0.0
    give_back: bool = False
    unsent: bool = False
    flagged: bool = False
    worker_died: bool = False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
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


def may_send(operation: Operation, policy: Policy, now: datetime, retry_policy: RetryPolicy, send_to: str) -> bool:
    """Whether a request that a look-up did not find may go out (again) under its key.

    Another account has never heard of it, and a first send in the future says that one of two clocks is wrong.
    """
    if operation.first_sent_at is None or policy is Policy.RESEND:
        return True
    window = timedelta(seconds=retry_policy.key_window_seconds - retry_policy.key_window_margin_seconds)
    in_window = operation.first_sent_at <= now < operation.first_sent_at + window
    return policy is Policy.PROVIDER_KEY and in_window and operation.sent_to in (None, send_to)


def next_step(operation: Operation, answer: Answer, policy: Policy, retry_policy: RetryPolicy) -> Step:
    """The one place that decides what a call's outcome means."""
    wait = retry_policy.wait_seconds(operation, answer.retry_after_seconds)
    first_send = operation.sent_at is not None and operation.sent_at == operation.first_sent_at
    match answer.outcome:
        case Outcome.DONE:
            return Step(State.COMPLETED, answer.reason or None, answer.result)
        case Outcome.REFUSED:
            return Step(State.REFUSED, answer.reason, answer.result)
        case Outcome.FLAGGED:
            return Step(State.NEEDS_CONFIRMATION, answer.reason, answer.result, flagged=True)
        case Outcome.NOT_SENT | Outcome.THROTTLED:
            return Step(State.READY, answer.reason, wait_seconds=wait, give_back=True, unsent=first_send)
        case Outcome.RUNNING:
            return Step(State.READY, answer.reason, answer.result, wait_seconds=wait, give_back=True)
        case Outcome.UNAVAILABLE | Outcome.UNKNOWN:
            return after_unknown(operation, answer.reason, policy, retry_policy, wait)


def after_unknown(
    operation: Operation, reason: str, policy: Policy, retry_policy: RetryPolicy, wait_seconds: float = 0.0
) -> Step:
    """A send of unknown fate: again under the same key where the provider knows it, else a person decides."""
    attempts = {Policy.PROVIDER_KEY: retry_policy.max_attempts, Policy.RESEND: MAX_COPIES}.get(policy, 0)
    if operation.attempts < attempts:
        return Step(State.READY, reason, wait_seconds=wait_seconds)
    return Step(State.NEEDS_CONFIRMATION, reason)
