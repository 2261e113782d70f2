"""Refunds when workers are killed, answers get lost or transactions start again: once each, all the same."""

import pytest

from domain.operations import Finding, Outcome, State
from tests.application.killed import at_unit, killed_at_unit, killed_during_the_call
from tests.application.office import Office

KEY = "refund:R1"
KILLS = {
    "after the claim": lambda office: killed_at_unit(office, 2, office.give_back),
    "during the call": lambda office: killed_during_the_call(office, office.give_back, of=office.provider),
    "after the answer": lambda office: killed_at_unit(office, 3, office.give_back),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_worker_that_is_killed_gives_back_once(any_office: Office, kill: str) -> None:
    """Swept, looked up, and given back once, at all points (B25)."""
    any_office.paid(5000)
    any_office.refund("R1", 5000)
    KILLS[kill](any_office)
    any_office.after_the_lease()
    any_office.give_back()
    any_office.reconcile.execute()
    any_office.give_back()
    assert any_office.refunds() == {"R1": (5000, "succeeded")}
    assert any_office.provider.refunded("pi_1") == 5000


def test_a_refund_in_doubt_is_sent_again_under_its_key(office: Office) -> None:
    """With the same body; the provider knows it."""
    office.paid(5000)
    office.refund()
    office.provider.will_answer(KEY, Outcome.UNKNOWN, works=True)
    office.provider.will_find(KEY, Finding.NOT_FOUND)
    office.give_back()
    office.clock.advance(600)
    office.give_back()
    assert office.provider.received[1:] == [KEY, KEY]
    assert (office.provider.refunded("pi_1"), office.refunds()) == (1000, {"R1": (1000, "succeeded")})


def test_a_refund_in_doubt_without_keys_is_never_sent_again() -> None:
    """It is found, or waits for a person."""
    office = Office(honours_keys=False)
    office.paid(5000)
    office.refund()
    office.provider.will_answer(KEY, Outcome.UNKNOWN)
    for _ in range(3):
        office.give_back()
        office.clock.advance(86_400)
        office.reconcile.execute()
    assert (office.operation(KEY).state, office.provider.received[1:]) == (State.NEEDS_CONFIRMATION, [KEY])


@pytest.mark.parametrize("unit", [1, 2, 3], ids=["before the gate", "at the gate", "between answer and commit"])
@pytest.mark.parametrize("lost", ["races", "answer"])
def test_a_database_that_tries_again_gives_back_once(any_office: Office, unit: int, lost: str) -> None:
    """Three serialization failures in a row, or a COMMIT without an answer, call nobody again (B26)."""
    any_office.paid(5000)
    any_office.refund()
    fail = any_office.transactions.lose_next_answer
    with at_unit(any_office, unit, fail if lost == "answer" else lambda: any_office.transactions.lose_next_races(3)):
        any_office.give_back()
    assert (any_office.provider.received[1:], any_office.refunds()) == ([KEY], {"R1": (1000, "succeeded")})
