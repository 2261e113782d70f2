"""`OperationBook`: what is withdrawn, what waits for a person, and the story of it all."""

from collections.abc import Mapping
from typing import Any

import pytest

from domain.operations import Operation, State, Step
from domain.shipping import CANCEL, REQUEST
from tests.contracts.samples import parcel
from tests.contracts.stores import Store
from tests.contracts.work import (
    claim,
    claim_one,
    gate,
    needing_confirmation,
    now,
    parked,
    register,
    send_one,
    settle,
)

KEY = parcel("o-1").key


def withdraw(store: Store, *keys: str) -> list[str]:
    return list(store.run(lambda books: books.operations.withdraw_unsent(keys, "the order was cancelled")))


def test_due_work_is_withdrawn(store: Store) -> None:
    """Nothing has to be undone outside."""
    register(store, parcel("o-1"))
    assert withdraw(store, KEY) == []
    operation = now(store, KEY)
    assert (operation.state, operation.reason) == (State.REFUSED, "the order was cancelled")
    assert claim(store) == []


def test_claimed_work_that_has_not_passed_the_gate_is_withdrawn(store: Store) -> None:
    """Its worker finds the gate closed."""
    claimed = claim_one(store)
    assert withdraw(store, KEY) == []
    assert (now(store, KEY).state, gate(store, claimed)) == (State.REFUSED, [])


def test_parked_work_is_withdrawn(store: Store) -> None:
    """It was surely never sent."""
    parked(store)
    assert withdraw(store, KEY) == []
    assert now(store, KEY).state is State.REFUSED


def test_work_that_was_unsent_again_is_withdrawn(store: Store) -> None:
    """A gate that was passed in vain does not count."""
    settle(store, send_one(store), Step(State.READY, "refused connection", give_back=True, unsent=True))
    assert withdraw(store, KEY) == []
    assert now(store, KEY).state is State.REFUSED


@pytest.mark.parametrize("state", [None, State.READY, State.NEEDS_CONFIRMATION, State.COMPLETED])
def test_work_that_was_or_may_have_been_sent_is_not_withdrawn(store: Store, state: State | None) -> None:
    """It must be undone at the other side; that it was asked for stays as it is."""
    sent = send_one(store)
    if state is not None:
        settle(store, sent, Step(state, "so far", {"reference": "SH-1"}))
    before = now(store, KEY)
    assert withdraw(store, KEY) == [KEY]
    assert now(store, KEY) == before


def test_what_the_other_side_refused_needs_no_undoing(store: Store) -> None:
    """A definite no left nothing there."""
    settle(store, send_one(store), Step(State.REFUSED, "no such address"))
    assert withdraw(store, KEY) == []
    assert now(store, KEY).reason == "no such address"


def test_of_many_only_the_sent_ones_are_told(store: Store) -> None:
    """Unknown keys and keys withdrawn before are neither."""
    register(store, parcel("o-1"), parcel("o-2"))
    send_one(store, order_id="o-3")
    keys = [parcel(order_id).key for order_id in ("o-4", "o-3", "o-2", "o-1")]
    assert withdraw(store, *keys) == [parcel("o-3").key]
    assert withdraw(store, *keys) == [parcel("o-3").key]
    assert withdraw(store) == []


def story(store: Store) -> list[Mapping[str, Any]]:
    return list(store.run(lambda books: books.operations.story(KEY)))


def decide(store: Store, expected: State, step: Step, key: str = KEY) -> bool:
    return store.run(lambda books: books.operations.decide(key, expected, step, by="花子", evidence="phone call"))


def test_a_decision_moves_what_waits_and_begins_its_attempts_anew(store: Store) -> None:
    """Parked work that a person retries is due at once, under a new epoch."""
    before = parked(store)
    assert decide(store, State.PARKED, Step(State.READY, "retried by hand"))
    operation = now(store, KEY)
    assert (operation.state, operation.attempts, operation.reason) == (State.READY, 0, "retried by hand")
    assert operation.epoch > before.epoch
    assert len(claim(store, "w/9")) == 1


def test_a_decision_forgets_how_many_workers_died(store: Store) -> None:
    """What was mended is no longer suspect."""
    settle(store, claim_one(store), Step(State.READY, "its worker ended", worker_died=True))
    settle(store, claim_one(store), Step(State.READY, "503"))
    settle(store, claim_one(store), Step(State.PARKED, "its worker ended", worker_died=True))
    assert now(store, KEY).worker_deaths == 2
    decide(store, State.PARKED, Step(State.READY, "retried by hand"))
    assert now(store, KEY).worker_deaths == 0


def test_a_decision_adds_to_the_result(store: Store) -> None:
    """A reference given by a person joins what was known."""
    settle(store, send_one(store), Step(State.NEEDS_CONFIRMATION, "silence", {"command_id": "c1"}))
    assert decide(store, State.NEEDS_CONFIRMATION, Step(State.COMPLETED, "by hand", {"reference": "SH-1"}))
    operation = now(store, KEY)
    assert (operation.state, operation.result) == (State.COMPLETED, {"command_id": "c1", "reference": "SH-1"})


def test_a_decision_that_nothing_happened_forgets_the_send(store: Store) -> None:
    """It may be sent again like new."""
    needing_confirmation(store)
    assert decide(store, State.NEEDS_CONFIRMATION, Step(State.READY, "did not happen", unsent=True))
    operation = now(store, KEY)
    assert (operation.state, operation.was_sent, operation.sent_at) == (State.READY, False, None)


def test_a_decision_otherwise_remembers_the_send(store: Store) -> None:
    """What may have arrived may have arrived, whoever decides."""
    before = needing_confirmation(store)
    decide(store, State.NEEDS_CONFIRMATION, Step(State.READY, "once more"))
    assert now(store, KEY).first_sent_at == before.first_sent_at


def test_a_decision_about_what_has_moved_on_is_not_written(store: Store) -> None:
    """Two operators cannot both decide."""
    needing_confirmation(store)
    assert decide(store, State.NEEDS_CONFIRMATION, Step(State.COMPLETED, None, {"reference": "SH-1"}))
    assert not decide(store, State.NEEDS_CONFIRMATION, Step(State.READY, "did not happen", unsent=True))
    assert not decide(store, State.PARKED, Step(State.READY))
    assert not decide(store, State.PARKED, Step(State.READY), key="shipment-request:o-404")
    assert now(store, KEY).state is State.COMPLETED
    assert sum(line["what"].startswith("decided") for line in story(store)) == 1


def unconfirmed(store: Store, *kinds: str, limit: int = 10) -> list[Operation]:
    return list(store.run(lambda books: books.operations.unconfirmed(kinds, limit)))


def test_what_waits_for_confirmation_is_found_when_it_is_due(store: Store) -> None:
    """By kind, the longest due first, and no more than were asked for."""
    for order_id in ("o-2", "o-1"):
        needing_confirmation(store, order_id)
        store.pass_time(1)
    parked(store, "o-3")
    assert [operation.subject for operation in unconfirmed(store, REQUEST)] == ["o-2", "o-1"]
    assert [operation.subject for operation in unconfirmed(store, REQUEST, CANCEL, limit=1)] == ["o-2"]
    assert unconfirmed(store, CANCEL) == []
    assert unconfirmed(store) == []


def test_what_the_provider_itself_referred_to_a_person_is_not_looked_up(store: Store) -> None:
    """Until somebody has decided; whatever comes of that is looked up like any other."""
    settle(store, send_one(store), Step(State.NEEDS_CONFIRMATION, "too late", flagged=True))
    assert (now(store, KEY).flagged, unconfirmed(store, REQUEST)) == (True, [])
    decide(store, State.NEEDS_CONFIRMATION, Step(State.READY, "once more"))
    assert not now(store, KEY).flagged
    settle(store, send_one(store, "w/2"), Step(State.NEEDS_CONFIRMATION, "silence"))
    assert [operation.key for operation in unconfirmed(store, REQUEST)] == [KEY]


def test_a_look_up_can_refer_to_a_person(store: Store) -> None:
    """Then it is not looked up again."""
    operation = needing_confirmation(store)
    confirm(store, operation, Step(State.NEEDS_CONFIRMATION, "of another order", flagged=True))
    store.pass_time(86_400)
    assert (unconfirmed(store, REQUEST), now(store, KEY).reason) == ([], "of another order")


def confirm(store: Store, operation: Operation, step: Step) -> list[str]:
    return list(store.run(lambda books: books.operations.confirm_each([(operation, step)])))


def test_a_look_up_that_finds_it_completes_it(store: Store) -> None:
    """Nobody has to decide what can be known."""
    operation = needing_confirmation(store)
    assert confirm(store, operation, Step(State.COMPLETED, "found by look-up", {"reference": "SH-1"})) == [KEY]
    assert (now(store, KEY).state, now(store, KEY).result) == (State.COMPLETED, {"reference": "SH-1"})
    assert story(store)[-1]["what"] == "decided: completed"


def test_a_look_up_that_does_not_find_it_comes_back_later(store: Store) -> None:
    """It goes on waiting for a person, and nobody has decided anything."""
    operation = needing_confirmation(store)
    assert confirm(store, operation, Step(State.NEEDS_CONFIRMATION, operation.reason, wait_seconds=60)) == [KEY]
    assert unconfirmed(store, REQUEST) == []
    store.pass_time(61)
    assert [one.key for one in unconfirmed(store, REQUEST)] == [KEY]
    assert not any(line["what"].startswith("decided") for line in story(store))


def test_a_look_up_does_not_overrule_a_person(store: Store) -> None:
    """What was decided meanwhile stays, even if the same state was reached again."""
    looked_up = needing_confirmation(store)
    decide(store, State.NEEDS_CONFIRMATION, Step(State.READY, "did not happen", unsent=True))
    found_late = Step(State.COMPLETED, "found by look-up", {"reference": "SH-1"})
    assert confirm(store, looked_up, found_late) == []
    settle(store, send_one(store, "w/2"), Step(State.NEEDS_CONFIRMATION, "silence"))
    assert confirm(store, looked_up, found_late) == []
    assert now(store, KEY).state is State.NEEDS_CONFIRMATION


def test_the_story_tells_attempts_and_decisions_in_order_of_time(store: Store) -> None:
    """Who did what, when and why."""
    register(store, parcel("o-2"))
    claimed = claim_one(store, "w/1")
    store.pass_time(1)
    settle(store, claimed, Step(State.READY, "its worker ended before sending"))
    store.pass_time(1)
    sent = send_one(store, "w/2")
    store.pass_time(1)
    settle(store, sent, Step(State.NEEDS_CONFIRMATION, "silence"))
    store.pass_time(1)
    decide(store, State.NEEDS_CONFIRMATION, Step(State.COMPLETED, "confirmed by hand"))
    lines = story(store)
    assert [(line["what"], line["who"], line["detail"]) for line in lines] == [
        ("claimed", "w/1", None),
        ("ready", "w/1", "its worker ended before sending"),
        ("claimed", "w/2", None),
        ("sent", "w/2", None),
        ("needs_confirmation", "w/2", "silence"),
        ("decided: completed", "花子", "confirmed by hand; phone call"),
    ]
    assert lines == sorted(lines, key=lambda line: line["at"])


def test_an_operation_nobody_touched_has_no_story(store: Store) -> None:
    """Nor has one that does not exist."""
    register(store, parcel("o-1"))
    assert story(store) == []
