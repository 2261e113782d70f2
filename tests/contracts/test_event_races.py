"""`EventInbox` and `OrderBook` when many deliver and take at once, in threads and in processes."""

from collections import Counter

from adapters.postgres.transactions import PostgresTransactions
from domain.orders.events import Arrival, EventState, Verdict
from domain.orders.rules import Order
from tests.contracts.crowds import CROWD, ProcessCrowd, in_threads
from tests.contracts.samples import confirmed
from tests.contracts.stores import Books, PostgresStore, Store

EVENTS = [f"e-{number:03}" for number in range(100)]
NEW, DUPLICATE, CONFLICT = Arrival.NEW, Arrival.DUPLICATE, Arrival.CONFLICT


def test_of_many_equal_deliveries_at_once_one_is_new(store: Store) -> None:
    """And none is an error."""
    event = confirmed("e-1")
    answers = in_threads(lambda _: store.run(lambda books: list(books.inbox.store_each([event]))))
    assert Counter(answer for (answer,) in answers) == {NEW: 1, DUPLICATE: CROWD - 1}
    assert store.run(lambda books: books.inbox.due()) == 1


def test_of_many_contradicting_deliveries_at_once_one_is_new(store: Store) -> None:
    """The others are kept beside it, visible."""
    answers = in_threads(
        lambda number: store.run(lambda books: list(books.inbox.store_each([confirmed("e-1", total=number)])))
    )
    assert Counter(answer for (answer,) in answers) == {NEW: 1, CONFLICT: CROWD - 1}
    states = Counter(
        one["state"] for one in store.run(lambda books: books.inbox.find(states=[], subject=None, limit=None))
    )
    assert states == {"accepted": 1, "conflict": CROWD - 1}


def test_no_event_is_applied_by_two(store: Store) -> None:
    """Whoever takes a set holds it until it is marked."""
    store.run(lambda books: books.inbox.store_each([confirmed(event_id) for event_id in EVENTS]))

    def apply(books: Books) -> list[str]:
        taken = books.inbox.take(7)
        books.inbox.mark({stored.seq: Verdict(EventState.APPLIED) for stored in taken})
        return [stored.event.id for stored in taken]

    def work(_: int) -> list[str]:
        mine: list[str] = []
        while store.run(lambda books: books.inbox.due()):
            mine += store.run(apply)
        return mine

    shares = in_threads(work)
    assert sorted(event_id for share in shares for event_id in share) == EVENTS


def test_of_many_who_store_a_new_order_at_once_one_does(store: Store) -> None:
    """The others start again and find it."""

    def confirm(number: int) -> bool:
        def work(books: Books) -> bool:
            if "o-1" in books.orders.lock(["o-1"]):
                return False
            books.orders.add([Order("o-1", customer_id=f"c-{number}")])
            return True

        return store.run(work)

    answers = in_threads(confirm)
    assert sum(answers) == 1
    order = store.run(lambda books: books.orders.get("o-1"))
    assert order == Order("o-1", customer_id=f"c-{answers.index(True)}")


def test_customers_made_in_opposite_order_are_all_made(store: Store) -> None:
    """In one order whoever asks, so that no unit has to start again."""
    customer_ids = [f"c-{number}" for number in range(50)]
    runs: list[int] = []

    def make_all(number: int) -> None:
        def work(books: Books) -> None:
            runs.append(number)
            books.customers.ensure(customer_ids[:: 1 if number % 2 else -1])

        store.run(work)

    in_threads(make_all)
    assert sorted(runs) == list(range(CROWD))
    assert set(store.run(lambda books: books.customers.lock(customer_ids))) == set(customer_ids)


def deliver_all(transactions: PostgresTransactions, number: int) -> list[Arrival]:
    event_ids = EVENTS if number % 2 else EVENTS[::-1]
    events = [confirmed(event_id) for event_id in event_ids]
    answers = transactions.run(lambda books: books.inbox.store_each(events))
    return [answer for _, answer in sorted(zip(event_ids, answers, strict=True))]


def test_of_eight_processes_that_deliver_the_same_one_is_first_with_each(
    postgres_store: PostgresStore, processes: ProcessCrowd
) -> None:
    """Equal batches in opposite orders, with no deadlock left unretried."""
    answers = processes.run(deliver_all, postgres_store.database_url)
    for votes in zip(*answers, strict=True):
        assert Counter(votes) == {NEW: 1, DUPLICATE: CROWD - 1}
    assert postgres_store.run(lambda books: books.inbox.due()) == len(EVENTS)
