"""`OperationBook`: claiming due work, and giving it up after too many attempts."""

from domain.operations import State, Step
from domain.shipping import CANCEL, cancellation
from tests.contracts.samples import parcel
from tests.contracts.stores import Store
from tests.contracts.work import (
    LEASE_SECONDS,
    MAX_ATTEMPTS,
    claim,
    claim_one,
    now,
    parked,
    register,
    send_one,
    settle,
)

KEY = parcel("o-1").key


def test_a_claim_takes_due_work_and_counts_the_attempt(store: Store) -> None:
    """It is the claimant's from then on, with a new epoch to prove it."""
    register(store, parcel("o-1"))
    (operation,) = claim(store)
    assert (operation.state, operation.epoch, operation.attempts) == (State.PROCESSING, 1, 1)
    assert (operation.sent_at, operation.was_sent) == (None, False)
    assert operation == now(store, KEY)


def test_what_is_claimed_is_not_claimed_by_another(store: Store) -> None:
    """Two workers never hold the same operation."""
    register(store, parcel("o-1"), parcel("o-2"))
    assert len(claim(store, "w/1")) == 2
    assert claim(store, "w/2") == []


def test_a_claim_takes_no_more_than_its_limit_and_the_longest_due_first(store: Store) -> None:
    """Nobody waits for ever behind newer work."""
    for order_id in ("o-3", "o-1", "o-2"):
        register(store, parcel(order_id))
        store.pass_time(1)
    taken = [[operation.subject for operation in claim(store, f"w/{n}", limit=2)] for n in range(3)]
    assert taken == [["o-1", "o-3"], ["o-2"], []]


def test_a_claim_takes_one_kind_only(store: Store) -> None:
    """Cancellations are left to those who do them."""
    register(store, cancellation("o-1", 1))
    assert claim(store) == []
    assert now(store, cancellation("o-1", 1).key).kind == CANCEL


def test_a_named_operation_is_claimed_alone(store: Store) -> None:
    """Other due work stays where it is."""
    register(store, parcel("o-1"), parcel("o-2"))
    assert [operation.subject for operation in claim(store, key=parcel("o-2").key)] == ["o-2"]
    assert now(store, KEY).state is State.READY


def test_a_named_operation_that_is_not_due_is_not_claimed(store: Store) -> None:
    """Naming it is no way around its time, its state or its holder."""
    settle(store, claim_one(store), Step(State.READY, "later", wait_seconds=60))
    assert claim(store, "w/2", key=KEY) == []
    assert claim(store, "w/3", key="shipment-request:o-404") == []
    store.pass_time(61)
    assert len(claim(store, "w/4", key=KEY)) == 1
    assert claim(store, "w/5", key=KEY) == []


def test_what_waits_is_due_when_its_time_has_come(store: Store) -> None:
    """Not a second before, by the books' clock."""
    settle(store, claim_one(store), Step(State.READY, "later", wait_seconds=600))
    store.pass_time(590)
    assert claim(store, "w/2") == []
    store.pass_time(11)
    assert len(claim(store, "w/3")) == 1


def test_a_claim_is_found_again_by_the_claimants_name(store: Store) -> None:
    """A claim whose COMMIT was answered by silence is asked for again: the same work, not more of it."""
    register(store, *(parcel(f"o-{number}") for number in range(6)))
    first = claim(store, "w/1", limit=2)
    assert claim(store, "w/1", limit=2) == first
    assert claim(store, "w/1", limit=6) == first
    assert [operation.epoch for operation in claim(store, "w/1", limit=2)] == [1, 1]


def test_what_the_same_name_holds_of_another_kind_is_not_found_again(store: Store) -> None:
    """A worker that does two kinds of work at once never takes one for the other."""
    claim_one(store, "w/1")
    register(store, cancellation("o-1", 1))
    claimed = store.run(
        lambda books: books.operations.claim(CANCEL, 10, lease_seconds=30, worker="w/1", max_attempts=10)
    )
    assert [operation.kind for operation in claimed] == [CANCEL]


def test_a_settled_claim_is_not_found_again(store: Store) -> None:
    """Once nothing is left of its claim, a name claims anew."""
    settle(store, claim_one(store, "w/1"), Step(State.COMPLETED))
    register(store, parcel("o-2"))
    assert [operation.subject for operation in claim(store, "w/1")] == ["o-2"]


def test_final_and_waiting_work_is_not_claimed(store: Store) -> None:
    """Neither what is done nor what waits for a person is due."""
    settle(store, claim_one(store, order_id="o-1"), Step(State.COMPLETED))
    settle(store, claim_one(store, order_id="o-2"), Step(State.REFUSED, "no such address"))
    settle(store, send_one(store, order_id="o-3"), Step(State.NEEDS_CONFIRMATION, "silence"))
    parked(store, "o-4")
    store.pass_time(86_400)
    assert claim(store, "w/2") == []


def test_work_that_was_never_sent_is_parked_after_too_many_attempts(store: Store) -> None:
    """Attempts are counted at the claim, so that work which kills its worker ends all the same."""
    operation = parked(store)
    assert (operation.state, operation.attempts) == (State.PARKED, MAX_ATTEMPTS)
    assert operation.reason is not None
    assert operation.reason.endswith(f"{MAX_ATTEMPTS} attempts: its worker ended before sending")


def test_work_that_was_perhaps_sent_is_held_for_a_person_instead(store: Store) -> None:
    """Giving up on it must not look as if it had surely not happened."""
    for _ in range(MAX_ATTEMPTS):
        settle(store, send_one(store), Step(State.READY, "silence"))
    assert claim(store) == []
    operation = now(store, KEY)
    assert (operation.state, operation.attempts, operation.was_sent) == (State.NEEDS_CONFIRMATION, MAX_ATTEMPTS, True)


def test_one_send_among_the_attempts_is_enough_to_be_held(store: Store) -> None:
    """That the last attempts were not sent proves nothing about the first."""
    settle(store, send_one(store), Step(State.READY, "silence"))
    for _ in range(MAX_ATTEMPTS - 1):
        settle(store, claim_one(store), Step(State.READY, "its worker ended before sending"))
    assert claim(store) == []
    assert now(store, KEY).state is State.NEEDS_CONFIRMATION


def test_exhausted_work_does_not_stop_the_rest(store: Store) -> None:
    """One claim gives up on the exhausted and takes the others."""
    for _ in range(MAX_ATTEMPTS):
        settle(store, claim_one(store, order_id="o-1"), Step(State.READY, "again"))
    register(store, parcel("o-2"), parcel("o-3"))
    assert [operation.subject for operation in claim(store)] == ["o-2", "o-3"]
    assert now(store, KEY).state is State.PARKED


def end_with_its_worker(store: Store, order_id: str, times: int) -> None:
    """A parcel whose workers died with it, so often; due again from this moment."""
    for _ in range(times):
        settle(store, claim_one(store, order_id=order_id), Step(State.READY, "its worker ended", worker_died=True))


def test_what_ended_with_its_worker_twice_is_taken_alone(store: Store) -> None:
    """Should it be what kills them, it takes no others with it; one after the other, all are taken."""
    end_with_its_worker(store, "o-1", 2)
    store.pass_time(1)
    end_with_its_worker(store, "o-2", 2)
    store.pass_time(1)
    register(store, parcel("o-3"), parcel("o-4"))
    taken = [[operation.subject for operation in claim(store, f"w/{n}")] for n in range(4)]
    assert taken == [["o-1"], ["o-2"], ["o-3", "o-4"], []]


def test_a_suspect_waits_for_its_turn_while_older_work_is_taken(store: Store) -> None:
    """Together with the older work, but not with the suspect, the younger is taken."""
    register(store, parcel("o-1"))
    store.pass_time(1)
    end_with_its_worker(store, "o-2", 2)
    store.pass_time(1)
    register(store, parcel("o-3"))
    assert [operation.subject for operation in claim(store, "w/1")] == ["o-1", "o-3"]
    assert [operation.subject for operation in claim(store, "w/2")] == ["o-2"]


def test_what_ended_with_its_worker_once_is_no_suspect(store: Store) -> None:
    """Nor is what failed twice in another way."""
    end_with_its_worker(store, "o-1", 1)
    for _ in range(2):
        settle(store, claim_one(store, order_id="o-2"), Step(State.READY, "503"))
    store.pass_time(1)
    register(store, parcel("o-3"))
    assert [operation.subject for operation in claim(store)] == ["o-1", "o-2", "o-3"]


def test_an_attempt_given_back_does_not_count(store: Store) -> None:
    """What the other side would not even take can be tried for ever."""
    for _ in range(MAX_ATTEMPTS * 2):
        settle(store, claim_one(store), Step(State.READY, "429", give_back=True))
    operation = now(store, KEY)
    assert (operation.attempts, operation.epoch) == (0, MAX_ATTEMPTS * 2)


def test_a_new_claim_forgets_the_send_of_the_last_attempt_but_not_that_there_was_one(store: Store) -> None:
    """`sent_at` is this attempt's, `first_sent_at` the first that may have arrived."""
    sent = send_one(store)
    settle(store, sent, Step(State.READY, "silence"))
    operation = claim_one(store, "w/2")
    assert (operation.sent_at, operation.first_sent_at) == (None, sent.first_sent_at)


def test_a_lease_lasts_as_long_as_was_asked_for(store: Store) -> None:
    """Not expired while it runs, expired when it is over."""
    operation = claim_one(store)
    store.pass_time(LEASE_SECONDS - 10)
    assert store.run(lambda books: books.operations.expired(10)) == []
    store.pass_time(11)
    assert list(store.run(lambda books: books.operations.expired(10))) == [operation]
