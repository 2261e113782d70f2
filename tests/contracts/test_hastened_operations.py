"""`OperationBook.hasten`: somebody heard that it is worth looking now."""

import pytest

from domain.operations import State, Step
from domain.shipping import REQUEST
from tests.contracts.samples import parcel
from tests.contracts.stores import Store
from tests.contracts.work import claim, now, register, send_one, settle

KEY = parcel("o-1").key


def hasten(store: Store, key: str = KEY) -> None:
    store.run(lambda books: books.operations.hasten(key))


def test_work_that_waits_for_its_time_is_due_at_once(store: Store) -> None:
    """Its attempts and what is known of it stay."""
    settle(store, send_one(store), Step(State.READY, "processing", {"reference": "pi_1"}, wait_seconds=600))
    assert claim(store) == []
    hasten(store)
    (claimed,) = claim(store)
    assert (claimed.attempts, claimed.result) == (2, {"reference": "pi_1"})


def test_what_waits_for_a_person_is_looked_up_at_once(store: Store) -> None:
    """It stays with the person until something is found."""
    settle(store, send_one(store), Step(State.NEEDS_CONFIRMATION, "silence", wait_seconds=600))
    assert store.run(lambda books: books.operations.unconfirmed([REQUEST], 10)) == []
    hasten(store)
    assert [one.key for one in store.run(lambda books: books.operations.unconfirmed([REQUEST], 10))] == [KEY]


def test_what_is_due_keeps_its_turn(store: Store) -> None:
    """It is not put behind what came after it."""
    register(store, parcel("o-1"))
    store.pass_time(60)
    register(store, parcel("o-2"))
    before = now(store, KEY)
    hasten(store)
    assert now(store, KEY) == before
    assert [one.key for one in claim(store, limit=1)] == [KEY]


@pytest.mark.parametrize("state", [State.COMPLETED, State.REFUSED, State.PARKED])
def test_what_ended_or_was_given_up_stays_so(store: Store, state: State) -> None:
    """A notice is no reason to begin anew."""
    settle(store, send_one(store), Step(state, "as it is", wait_seconds=600))
    before = now(store, KEY)
    hasten(store)
    assert now(store, KEY) == before


def test_work_under_way_is_left_alone(store: Store) -> None:
    """Its worker reads the answer itself; an unknown key is nobody's."""
    sent = send_one(store)
    hasten(store)
    hasten(store, "shipment-request:o-404")
    assert now(store, KEY) == sent
