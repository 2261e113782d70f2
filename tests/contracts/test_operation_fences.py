"""`OperationBook`: gate and settle, which write only what is still the caller's."""

import pytest

from domain.operations import Operation, State, Step
from tests.contracts.samples import parcel
from tests.contracts.stores import Store
from tests.contracts.work import (
    LEASE_SECONDS,
    claim,
    claim_one,
    gate,
    needing_confirmation,
    now,
    register,
    send_one,
    settle,
)

KEY = parcel("o-1").key


def sweep(store: Store, state: State = State.READY) -> None:
    """Somebody frees what dead workers hold."""

    store.pass_time(LEASE_SECONDS + 1)
    store.run(
        lambda books: books.operations.settle_each(
            [(one, Step(state, "swept")) for one in books.operations.expired(10)]
        )
    )


def test_the_gate_marks_what_is_about_to_be_sent(store: Store) -> None:
    """The mark is there, committed, before the first byte goes out."""
    before, claimed = store.now(), claim_one(store)
    (gated,) = gate(store, claimed)
    assert gated == now(store, KEY)
    assert gated.sent_at is not None
    assert before <= gated.sent_at <= store.now()
    assert (gated.state, gated.epoch, gated.was_sent) == (State.PROCESSING, claimed.epoch, True)


def test_the_first_send_of_an_operation_is_its_send(store: Store) -> None:
    """To the microsecond: by that, "surely not sent" is known to have been the only send."""
    register(store, *(parcel(f"o-{number}") for number in range(9)))
    assert all(gated.sent_at == gated.first_sent_at for gated in gate(store, *claim(store)))


def test_the_gate_remembers_the_first_send(store: Store) -> None:
    """A key's window begins with the first request that may have arrived."""
    first = send_one(store)
    settle(store, first, Step(State.READY, "silence"))
    store.pass_time(60)
    second = send_one(store)
    assert second.first_sent_at == first.first_sent_at
    assert second.sent_at is not None
    assert second.sent_at != first.sent_at


@pytest.mark.parametrize(("seconds_left", "passes"), [(5, False), (15, True)])
def test_the_gate_refuses_when_the_lease_does_not_outlast_the_call(
    store: Store, *, seconds_left: float, passes: bool
) -> None:
    """Whoever sent now might still be sending when the operation is another's."""
    claimed = claim_one(store)
    store.pass_time(LEASE_SECONDS - seconds_left)
    assert len(gate(store, claimed, outlasting_seconds=10.0)) == passes
    assert now(store, KEY).was_sent is passes


def test_the_gate_lets_those_pass_that_may(store: Store) -> None:
    """One lost claim in a set does not stop the others."""
    register(store, parcel("o-1"), parcel("o-2"), parcel("o-3"))
    claimed = claim(store)
    settle(store, claimed[1], Step(State.COMPLETED))
    assert [operation.subject for operation in gate(store, *claimed)] == ["o-1", "o-3"]


def test_an_old_claim_passes_no_gate(store: Store) -> None:
    """Whoever comes back after the sweep sends nothing."""
    old = claim_one(store, "w/1")
    sweep(store)
    new = claim_one(store, "w/2")
    assert gate(store, old) == []
    assert not now(store, KEY).was_sent
    assert len(gate(store, new)) == 1


def test_a_withdrawn_operation_passes_no_gate(store: Store) -> None:
    """A cancel between claim and gate wins."""
    claimed = claim_one(store)
    store.run(lambda books: books.operations.withdraw_unsent([KEY], "the order was cancelled"))
    assert gate(store, claimed) == []
    assert settle(store, claimed, Step(State.READY, "not sent")) == []
    assert now(store, KEY).state is State.REFUSED


@pytest.mark.parametrize("state", [State.COMPLETED, State.REFUSED, State.NEEDS_CONFIRMATION, State.READY])
def test_a_settled_attempt_goes_where_its_step_says(store: Store, state: State) -> None:
    """With the step's reason and result."""
    sent = send_one(store)
    assert settle(store, sent, Step(state, "because", {"reference": "SH-1"})) == [KEY]
    operation = now(store, KEY)
    assert (operation.state, operation.reason, operation.result) == (state, "because", {"reference": "SH-1"})
    assert operation.first_sent_at == sent.first_sent_at


def test_an_attempt_is_settled_once(store: Store) -> None:
    """The second word on it is not heard."""
    sent = send_one(store)
    settle(store, sent, Step(State.COMPLETED, "done", {"reference": "SH-1"}))
    assert settle(store, sent, Step(State.REFUSED, "no")) == []
    assert now(store, KEY).state is State.COMPLETED


@pytest.mark.parametrize("meanwhile", ["swept", "claimed again", "sent again", "completed", "waits"])
def test_an_old_claim_writes_nothing(store: Store, meanwhile: str) -> None:
    """Whatever became of the operation since, a worker that was frozen meanwhile does not overwrite it."""
    old = send_one(store, "w/1")
    sweep(store, State.NEEDS_CONFIRMATION if meanwhile == "waits" else State.READY)
    if meanwhile in ("claimed again", "sent again", "completed"):
        new = claim_one(store, "w/2")
        if meanwhile != "claimed again":
            (new,) = gate(store, new)
        if meanwhile == "completed":
            settle(store, new, Step(State.COMPLETED, None, {"reference": "SH-2"}))
    before = now(store, KEY)
    for late in (Step(State.COMPLETED, "late", {"reference": "SH-1"}), Step(State.READY, "late", unsent=True)):
        assert settle(store, old, late) == []
    assert now(store, KEY) == before


def test_of_many_steps_only_those_still_held_are_written(store: Store) -> None:
    """The keys that were written are told; the others belong to a newer claim."""
    register(store, parcel("o-1"), parcel("o-2"))
    one, two = claim(store)
    settle(store, one, Step(State.COMPLETED))
    done = Step(State.COMPLETED)
    written = store.run(lambda books: books.operations.settle_each([(one, done), (two, done)]))
    assert list(written) == [two.key]


def test_nothing_to_settle_is_no_work(store: Store) -> None:
    """Nor is gating or confirming nothing."""
    assert list(store.run(lambda books: books.operations.settle_each([]))) == []
    assert list(store.run(lambda books: books.operations.confirm_each([]))) == []
    assert gate(store) == []


def test_results_add_up(store: Store) -> None:
    """What an earlier answer told stays known; what a later one tells anew replaces it."""
    settle(store, send_one(store), Step(State.READY, None, {"command_id": "c1", "reference": None}))
    settle(store, send_one(store), Step(State.COMPLETED, None, {"reference": "SH-1", "carrier": "山"}))
    assert now(store, KEY).result == {"command_id": "c1", "reference": "SH-1", "carrier": "山"}


def test_what_was_surely_not_sent_is_unsent_again(store: Store) -> None:
    """A request that never left us does not count as one that may have arrived."""
    settle(store, send_one(store), Step(State.READY, "refused connection", give_back=True, unsent=True))
    operation = now(store, KEY)
    assert (operation.was_sent, operation.sent_at, operation.attempts) == (False, None, 0)


def test_a_step_waits_as_long_as_it_says(store: Store) -> None:
    """By the books' clock, from the moment it is written."""
    before = store.now()
    settle(store, claim_one(store), Step(State.READY, "later", wait_seconds=90))
    operation = now(store, KEY)
    assert operation.next_at is not None
    assert 90 <= (operation.next_at - before).total_seconds() < 120


def held(store: Store) -> list[Operation]:
    return list(store.run(lambda books: books.operations.expired(10)))


def test_what_has_left_processing_has_no_lease(store: Store) -> None:
    """Nothing settled is ever swept."""
    settle(store, send_one(store, order_id="o-1"), Step(State.COMPLETED))
    needing_confirmation(store, "o-2")
    store.pass_time(LEASE_SECONDS + 1)
    assert held(store) == []


def test_leases_that_are_over_are_found_the_oldest_first(store: Store) -> None:
    """No more of them than were asked for; sent ones with their send."""
    claim_one(store, "w/1", order_id="o-2")
    store.pass_time(5)
    sent = send_one(store, "w/2", order_id="o-1")
    store.pass_time(LEASE_SECONDS + 1)
    assert [operation.subject for operation in held(store)] == ["o-2", "o-1"]
    assert held(store)[1].sent_at == sent.sent_at
    (oldest,) = store.run(lambda books: books.operations.expired(1))
    assert oldest.subject == "o-2"


def test_the_first_account_that_may_have_been_reached_is_kept(store: Store) -> None:
    """Whoever sends again under other settings is still told by it; what surely was not sent belongs to nobody."""
    sent = send_one(store)
    assert sent.sent_to == "us"
    settle(store, sent, Step(State.READY, "silence"))
    (again,) = claim(store, "w/2", key=sent.key)
    at_another = store.run(
        lambda books: books.operations.gate_each([again], outlasting_seconds=11.0, sent_to="another")
    )
    assert [one.sent_to for one in at_another] == ["us"]
    settle(store, at_another[0], Step(State.READY, "not sent", unsent=True))
    assert now(store, sent.key).sent_to is None
