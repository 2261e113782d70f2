"""The state machine's decisions: what an outcome means, per policy."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.canonical import canonical_json, fingerprint
from domain.operations import (
    KINDS,
    Answer,
    NewOperation,
    Operation,
    Outcome,
    Policy,
    RetryPolicy,
    State,
    may_send,
    next_step,
    policy_of,
)

NOW = datetime(2026, 10, 3, 12, tzinfo=UTC)
PATIENCE = RetryPolicy(max_attempts=10)
SENT = Operation(
    "shipment-request:o-1", "shipment-request", "o-1", 1, "{}", State.PROCESSING,
    epoch=1, attempts=1, first_sent_at=NOW, sent_at=NOW,
)  # fmt: skip
SENT_AGAIN = replace(SENT, epoch=2, attempts=2, sent_at=NOW + timedelta(minutes=1))
KEYED, CONFIRM, RESEND = Policy.PROVIDER_KEY, Policy.CONFIRM, Policy.RESEND


@pytest.mark.parametrize(
    ("outcome", "policy", "state"),
    [
        (Outcome.DONE, KEYED, State.COMPLETED),
        (Outcome.DONE, CONFIRM, State.COMPLETED),
        (Outcome.REFUSED, KEYED, State.REFUSED),
        (Outcome.FLAGGED, KEYED, State.NEEDS_CONFIRMATION),
        (Outcome.NOT_SENT, KEYED, State.READY),
        (Outcome.NOT_SENT, CONFIRM, State.READY),
        (Outcome.THROTTLED, CONFIRM, State.READY),
        (Outcome.RUNNING, KEYED, State.READY),
        (Outcome.UNAVAILABLE, KEYED, State.READY),
        (Outcome.UNKNOWN, KEYED, State.READY),
        (Outcome.UNKNOWN, RESEND, State.READY),
        # Without keys nothing of unknown fate is ever sent twice: a 5xx may hide a parcel.
        (Outcome.UNAVAILABLE, CONFIRM, State.NEEDS_CONFIRMATION),
        (Outcome.UNKNOWN, CONFIRM, State.NEEDS_CONFIRMATION),
    ],
)
def test_each_outcome_has_one_meaning(outcome: Outcome, policy: Policy, state: State) -> None:
    """The arrows out of `processing`."""
    assert next_step(SENT, Answer(outcome), policy, PATIENCE).state is state


@pytest.mark.parametrize("outcome", [Outcome.NOT_SENT, Outcome.THROTTLED, Outcome.RUNNING])
def test_what_was_not_taken_on_does_not_count_as_an_attempt(outcome: Outcome) -> None:
    """A carrier that is busy for a day must not use up our patience (B45)."""
    assert next_step(SENT, Answer(outcome), KEYED, PATIENCE).give_back


def test_surely_not_sent_undoes_the_first_send_only() -> None:
    """An earlier send of unknown fate is not forgotten because a later one did not get out."""
    assert next_step(SENT, Answer(Outcome.NOT_SENT), CONFIRM, PATIENCE).unsent
    assert not next_step(SENT_AGAIN, Answer(Outcome.NOT_SENT), KEYED, PATIENCE).unsent
    assert not next_step(SENT, Answer(Outcome.RUNNING), KEYED, PATIENCE).unsent


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.UNAVAILABLE])
def test_an_unknown_outcome_that_never_ends_goes_to_a_person(outcome: Outcome) -> None:
    """A provider that replays a stored 500 would otherwise be asked for ever (trap 20)."""
    last = replace(SENT_AGAIN, attempts=PATIENCE.max_attempts)
    assert next_step(last, Answer(outcome), KEYED, PATIENCE).state is State.NEEDS_CONFIRMATION


def test_a_request_is_not_repeated_at_another_account() -> None:
    """Which has never heard of it, or knows no keys: a look-up there proves nothing (trap 15)."""
    at_theirs = replace(SENT, sent_to="theirs")
    assert may_send(at_theirs, KEYED, NOW, PATIENCE, "theirs")
    assert not may_send(at_theirs, KEYED, NOW, PATIENCE, "ours")


def test_a_request_is_not_repeated_while_clocks_disagree() -> None:
    """First sent in the future: the key may be older than it seems."""
    assert not may_send(SENT, KEYED, NOW - timedelta(days=1), PATIENCE, "us")


def test_a_request_is_not_repeated_when_the_provider_may_have_forgotten_its_key() -> None:
    """Past the key window the same key would be a new parcel (trap 19)."""
    window = timedelta(seconds=PATIENCE.key_window_seconds - PATIENCE.key_window_margin_seconds)
    assert may_send(SENT, KEYED, NOW + window - timedelta(seconds=1), PATIENCE, "us")
    assert not may_send(SENT, KEYED, NOW + window, PATIENCE, "us")
    assert not may_send(SENT, CONFIRM, NOW, PATIENCE, "us")
    assert may_send(replace(SENT, first_sent_at=None), CONFIRM, NOW, PATIENCE, "us")


@given(st.integers(0, 10_000), st.one_of(st.none(), st.floats(-10, 1e12)))
def test_waiting_grows_and_stays_within_bounds(epoch: int, wish: float | None) -> None:
    """Never negative, never above the longest wait by more than its spread; a provider's wish is a floor."""
    wait = PATIENCE.wait_seconds(replace(SENT, epoch=epoch), wish)
    assert 0 < wait <= PATIENCE.max_retry_seconds
    if wish is not None and 0 <= wish <= PATIENCE.max_retry_seconds:
        assert wait >= wish


@pytest.mark.parametrize("kind", ["unheard-of", "point-grant"])
def test_only_work_outside_with_a_written_policy_can_be_registered(kind: str) -> None:
    """A kind without a line in the table has no answer to a crash."""
    with pytest.raises(ValueError, match=kind):
        NewOperation("k", kind, "o-1", 1, "{}")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_how_it_is_kept_to_once(kind: str) -> None:
    """With a provider that honours keys, and with one that does not."""
    with_keys, without = (policy_of(kind, honours_keys=honours) for honours in (True, False))
    assert without is (CONFIRM if with_keys is KEYED else with_keys)


def test_one_content_has_one_text() -> None:
    """Order of members and white space are no difference; a value is."""
    assert canonical_json({"b": 1, "a": "髙"}) == '{"a":"髙","b":1}'
    assert fingerprint(canonical_json({"a": 1, "b": 2})) == fingerprint(canonical_json({"b": 2, "a": 1}))
    assert fingerprint(canonical_json({"a": 1})) != fingerprint(canonical_json({"a": "1"}))
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"a": float("nan")})
