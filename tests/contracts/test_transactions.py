"""`Transactions`: all of a unit or nothing of it, one unit inside no other."""

from collections.abc import Callable

import pytest

from domain.errors import LostRace, Refused, Unavailable
from domain.orders.rules import Order
from tests.contracts.samples import confirmed, grant, parcel
from tests.contracts.stores import Books, Store


def write_everything(books: Books) -> None:
    """Something in every book."""
    books.inbox.store_each([confirmed("e-1")])
    books.orders.add([Order("o-1")])
    books.customers.ensure(["c-1"])
    books.ledger.grant_once(grant("o-1"))
    books.operations.register_each([parcel("o-1")])
    books.dead_letters.keep("orders", b"?", "not JSON")


def read_everything(books: Books) -> list[int]:
    """How much stands in every book."""
    return [
        books.inbox.due(),
        len(books.orders.lock(["o-1"])),
        len(books.customers.lock(["c-1"])),
        len(books.ledger.granted([("o-1", "order_confirmed")])),
        len(books.operations.find()),
        len(books.dead_letters.find(10)),
    ]


def test_a_unit_that_ends_is_kept_in_all_books(store: Store) -> None:
    """The next unit sees it."""
    store.run(write_everything)
    assert store.run(read_everything) == [1, 1, 1, 1, 1, 1]


def test_a_unit_sees_what_it_wrote_itself(store: Store) -> None:
    """Before anybody else does."""

    def work(books: Books) -> list[int]:
        write_everything(books)
        return read_everything(books)

    assert store.run(work) == [1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("failure", [Refused("no"), RuntimeError("our own fault"), KeyboardInterrupt()], ids=repr)
def test_a_unit_that_raises_leaves_nothing_in_any_book(store: Store, failure: BaseException) -> None:
    """And what it raises comes out as it is."""

    def work(books: Books) -> None:
        write_everything(books)
        raise failure

    with pytest.raises(type(failure)) as raised:
        store.run(work)
    assert raised.value is failure
    assert store.run(read_everything) == [0, 0, 0, 0, 0, 0]


def test_a_unit_returns_what_its_work_returns(store: Store) -> None:
    """Nothing included."""
    assert store.run(lambda _: 42) == 42
    assert store.run(lambda _: None) is None


def test_a_unit_inside_a_unit_is_refused(store: Store) -> None:
    """The outer one must not be half committed by the inner one."""

    def work(books: Books) -> None:
        write_everything(books)
        store.run(read_everything)

    with pytest.raises(AssertionError, match="transaction is open"):
        store.run(work)
    assert store.run(read_everything) == [0, 0, 0, 0, 0, 0]


def test_no_other_machine_is_called_from_within_a_unit(store: Store) -> None:
    """Asserting it stops the unit; outside of units it says nothing, also after one has failed."""
    check: Callable[[], None] = store.transactions.assert_none_open
    check()
    with pytest.raises(AssertionError, match="transaction is open"):
        store.run(lambda _: check())
    check()
    store.run(lambda _: None)
    check()


def test_a_lost_race_starts_the_unit_again_from_the_beginning(store: Store) -> None:
    """What the first run wrote is gone, so that it is not there twice."""
    seen: list[list[int]] = []

    def work(books: Books) -> None:
        seen.append(read_everything(books))
        write_everything(books)
        if len(seen) == 1:
            raise LostRace("somebody was first")

    store.run(work)
    assert seen == [[0] * 6, [0] * 6]
    assert store.run(read_everything) == [1, 1, 1, 1, 1, 1]


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Postgres' transactions give up after a moment instead of a quarter of a minute."""
    monkeypatch.setattr("adapters.postgres.transactions.PATIENCE_SECONDS", 0.2)


@pytest.mark.usefixtures("impatience")
def test_a_race_that_is_lost_for_ever_ends_as_unavailable(store: Store) -> None:
    """It can be tried again later; nothing was done."""

    def work(books: Books) -> None:
        write_everything(books)
        raise LostRace("somebody is always first")

    with pytest.raises(Unavailable):
        store.run(work)
    assert store.run(read_everything) == [0, 0, 0, 0, 0, 0]
