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

from domain.operations.book import OperationBook, Registration
from domain.operations.machine import (
    Answer,
    Finding,
    LookUp,
    NewOperation,
    Operation,
    Outcome,
    RetryPolicy,
    State,
    Step,
    after_unknown,
    may_send,
    next_step,
)
from domain.operations.policies import KINDS, KindPolicy, Policy, policy_of

__all__ = [
    "KINDS",
    "Answer",
    "Finding",
    "KindPolicy",
    "LookUp",
    "NewOperation",
    "Operation",
    "OperationBook",
    "Outcome",
    "Policy",
    "Registration",
    "RetryPolicy",
    "State",
    "Step",
    "after_unknown",
    "may_send",
    "next_step",
    "policy_of",
]
