"""`OrderBook`: orders as their events left them."""

from dataclasses import replace

from domain.money import Money
from domain.orders.rules import Order, OrderStatus, Position
from tests.contracts.samples import ADDRESS, CONFIRMED_AT
from tests.contracts.stores import Books, Store

FULL = Order(
    order_id="注文-1",
    status=OrderStatus.CONFIRMED,
    position=Position(2**63 - 1, CONFIRMED_AT.replace(microsecond=123_456), "e-1"),
    customer_id="c-1",
    content=bytes(range(32)),
    total=Money(2**63 - 1, "JPY"),
    points=2**63 - 1,
    ship_to={**ADDRESS, "line2": 'a"b\\c 🎉'},
    grant_reason="order_confirmed#3",
    confirmations=2,
    shipments=3,
)


def add(store: Store, *orders: Order) -> None:
    store.run(lambda books: books.orders.add(orders))


def get(store: Store, order_id: str) -> Order | None:
    return store.run(lambda books: books.orders.get(order_id))


def test_an_order_is_read_as_it_was_stored(store: Store) -> None:
    """Bare or with everything there is to know of it."""
    bare = Order("o-bare")
    add(store, FULL, bare)
    assert (get(store, FULL.order_id), get(store, "o-bare")) == (FULL, bare)


def test_an_unknown_order_is_nothing(store: Store) -> None:
    """Asking for it makes nothing."""
    assert get(store, "o-404") is None


def test_those_that_exist_are_locked(store: Store) -> None:
    """Unknown ones are missing in the answer, and one asked for twice stands there once."""
    add(store, Order("o-2"), Order("o-1"), Order("o-3"))
    locked = store.run(lambda books: dict(books.orders.lock(["o-3", "o-404", "o-1", "o-3"])))
    assert locked == {"o-1": Order("o-1"), "o-3": Order("o-3")}
    assert store.run(lambda books: dict(books.orders.lock([]))) == {}


def test_a_locked_order_is_saved_whole(store: Store) -> None:
    """What was told before and is no longer said is gone; the others stay as they were."""
    add(store, FULL, Order("o-2"), Order("o-3"))
    emptied = Order(FULL.order_id, OrderStatus.CANCELLED)
    filled = replace(FULL, order_id="o-2")

    def save(books: Books) -> None:
        books.orders.lock([FULL.order_id, "o-2"])
        books.orders.save([filled, emptied])

    store.run(save)
    assert [get(store, one) for one in (FULL.order_id, "o-2", "o-3")] == [emptied, filled, Order("o-3")]


def test_an_order_without_an_address_is_not_one_with_an_empty_address(store: Store) -> None:
    """Nothing to ship, and zero to pay, are facts of their own."""
    add(store, replace(FULL, ship_to=None, total=Money(0, "KWD")))
    order = get(store, FULL.order_id)
    assert order is not None
    assert (order.ship_to, order.total) == (None, Money(0, "KWD"))


def test_nothing_to_add_or_save_is_no_work(store: Store) -> None:
    """Empty sets change nothing."""
    store.run(lambda books: books.orders.save([]))
    add(store)


def test_an_order_that_was_stored_meanwhile_starts_the_unit_again(store: Store) -> None:
    """Whoever lost the race reads what the winner stored, and leaves nothing of the first try."""
    winner = Order("o-1", customer_id="c-winner")
    add(store, winner)
    runs: list[Order | None] = []

    def add_as_if_unknown(books: Books) -> Order:
        runs.append(None)
        if len(runs) == 1:  # as one that looked a moment before the winner's COMMIT
            books.orders.add([Order("o-0")])
            books.orders.add([Order("o-2"), Order("o-1", customer_id="c-loser")])
        return books.orders.lock(["o-1"])["o-1"]

    assert store.run(add_as_if_unknown) == winner
    assert len(runs) == 2
    assert (get(store, "o-0"), get(store, "o-2")) == (None, None)
