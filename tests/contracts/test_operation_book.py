"""`OperationBook`: what must happen, once it is registered, and how it is looked at."""

from datetime import timedelta

import pytest

from domain.operations import Registration, State
from domain.shipping import CANCEL, REQUEST, cancellation
from tests.contracts.samples import parcel
from tests.contracts.stores import Books, Store
from tests.contracts.work import claim, found, now, register

NEW, KNOWN, CONFLICT = Registration.NEW, Registration.KNOWN, Registration.CONFLICT


def test_what_is_registered_is_due_at_once_with_its_request_frozen(store: Store) -> None:
    """The request stays byte for byte what it was when it was decided."""
    before, new = store.now(), parcel("注文-1", 2)
    assert register(store, new) == [NEW]
    operation = now(store, new.key)
    assert (operation.request, operation.kind, operation.subject, operation.number) == (
        new.request,
        REQUEST,
        "注文-1",
        2,
    )
    assert (operation.state, operation.epoch, operation.attempts, operation.was_sent) == (State.READY, 0, 0, False)
    assert (operation.reason, operation.result, operation.sent_at) == (None, {}, None)
    assert operation.created_at is not None
    assert operation.next_at is not None
    assert before <= operation.created_at <= store.now()
    assert operation.next_at <= store.now()


def test_registering_the_same_again_is_a_no_op(store: Store) -> None:
    """However often it is decided, it is one operation."""
    assert [register(store, parcel("o-1")) for _ in range(3)] == [[NEW], [KNOWN], [KNOWN]]
    assert len(found(store)) == 1


def test_the_same_key_with_other_content_is_a_conflict_and_the_first_stays(store: Store) -> None:
    """A key never changes what it stands for, silently least of all."""
    register(store, parcel("o-1", name="first"))
    assert register(store, parcel("o-1", name="second")) == [CONFLICT]
    assert now(store, parcel("o-1").key).content["ship_to"]["name"] == "first"


def test_answers_stand_in_the_order_of_the_operations(store: Store) -> None:
    """New, known and contradicting ones in one call, repeats inside the call among them."""
    register(store, parcel("o-2"), parcel("o-5"))
    mixed = [
        parcel("o-9"),
        parcel("o-5"),
        parcel("o-2", name="another"),
        parcel("o-1"),
        parcel("o-9"),
        parcel("o-1", name="another"),
    ]
    assert register(store, *mixed) == [NEW, KNOWN, CONFLICT, NEW, KNOWN, CONFLICT]


def test_one_operation_named_twice_is_registered_once(store: Store) -> None:
    """It makes no difference whether the repeats in a set are copies or the very same object."""
    same = parcel("o-1")
    assert register(store, same, same) == [NEW, KNOWN]


def test_nothing_to_register_is_no_work(store: Store) -> None:
    """An empty set has no answers."""
    assert register(store) == []


def test_what_is_registered_stays_out_when_its_decision_fails(store: Store) -> None:
    """The operation and the decision stand in one transaction: both or none."""

    def decide_and_fail(books: Books) -> None:
        books.operations.register_each([parcel("o-1")])
        raise RuntimeError("the decision failed")

    with pytest.raises(RuntimeError, match="the decision failed"):
        store.run(decide_and_fail)
    assert found(store) == []


def test_an_unknown_key_is_nothing(store: Store) -> None:
    """Asking for it, locked or not, finds nothing."""
    assert store.run(lambda books: books.operations.get("shipment-request:o-404")) is None
    assert store.run(lambda books: books.operations.get("shipment-request:o-404", lock=True)) is None


def test_of_many_keys_the_known_are_found(store: Store) -> None:
    """By their keys; the unknown are missing in the answer."""
    register(store, parcel("o-1"), parcel("o-2"), parcel("o-3"))
    keys = [parcel(order_id).key for order_id in ("o-3", "o-404", "o-1", "o-3")]
    known = store.run(lambda books: dict(books.operations.get_each(keys)))
    assert known == {key: now(store, key) for key in (parcel("o-1").key, parcel("o-3").key)}
    assert store.run(lambda books: dict(books.operations.get_each([]))) == {}


def test_a_locked_look_sees_the_same(store: Store) -> None:
    """Locking changes who else may write, not what is read."""
    register(store, parcel("o-1"))
    key = parcel("o-1").key
    assert now(store, key) == store.run(lambda books: books.operations.get(key, lock=True))


def test_the_operations_of_one_kind_and_order_stand_by_number(store: Store) -> None:
    """Parcels of another order, and cancellations of this one, are not among them."""
    register(store, parcel("o-1", 10), parcel("o-1", 2), parcel("o-1"), parcel("o-2"), cancellation("o-1", 1))
    operations = store.run(lambda books: books.operations.of_subject(REQUEST, "o-1"))
    assert [operation.number for operation in operations] == [1, 2, 10]


def test_operations_are_found_the_newest_first(store: Store) -> None:
    """A limit keeps the newest ones."""
    for order_id in ("o-2", "o-1", "o-3"):
        register(store, parcel(order_id))
        store.pass_time(1)
    newest_first = [parcel(order_id).key for order_id in ("o-3", "o-1", "o-2")]
    assert found(store) == newest_first
    assert found(store, limit=2) == newest_first[:2]


def test_operations_are_found_by_state_kind_and_order(store: Store) -> None:
    """Each narrows what is found, and together they narrow it further."""
    register(store, parcel("o-1"), parcel("o-2"), cancellation("o-1", 1))
    store.run(lambda books: books.operations.withdraw_unsent([parcel("o-2").key], "the order was cancelled"))
    one, two, cancel = parcel("o-1").key, parcel("o-2").key, cancellation("o-1", 1).key
    assert set(found(store, states=[State.READY])) == {one, cancel}
    assert set(found(store, states=[State.READY, State.REFUSED])) == {one, two, cancel}
    assert set(found(store, kinds=[CANCEL])) == {cancel}
    assert set(found(store, subject="o-1")) == {one, cancel}
    assert found(store, states=[State.READY], kinds=[REQUEST], subject="o-1") == [one]
    assert found(store, states=[State.PARKED]) == []


def test_due_work_is_counted_by_kind(store: Store) -> None:
    """Kinds nobody asked for, and what waits for its time, are not counted."""
    register(store, parcel("o-1"), parcel("o-2"), cancellation("o-1", 1))
    due = store.run(lambda books: books.operations.due([REQUEST, CANCEL]))
    assert (due.get(REQUEST, 0), due.get(CANCEL, 0)) == (2, 1)
    assert CANCEL not in store.run(lambda books: books.operations.due([REQUEST]))
    assert sum(store.run(lambda books: books.operations.due([])).values()) == 0


def test_only_claimed_work_is_under_way(store: Store) -> None:
    """What is due is not yet under way."""
    register(store, parcel("o-1"), parcel("o-2"))
    assert store.run(lambda books: books.operations.under_way()) == 0
    claim(store, limit=1)
    assert store.run(lambda books: books.operations.under_way()) == 1


def test_times_are_the_books_own(store: Store) -> None:
    """What is registered an hour later is an hour younger, by the one clock."""
    register(store, parcel("o-1"))
    store.pass_time(3600)
    register(store, parcel("o-2"))
    first, second = now(store, parcel("o-1").key), now(store, parcel("o-2").key)
    assert first.created_at is not None
    assert second.created_at is not None
    assert second.created_at - first.created_at >= timedelta(hours=1)
