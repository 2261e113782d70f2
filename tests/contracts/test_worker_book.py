"""`WorkerBook`: signs of life."""

from application.workers import Role
from tests.contracts.stores import Books, Store


def tell(store: Store, **roles: Role) -> None:
    def seen(books: Books) -> None:
        for name, role in roles.items():
            books.workers.seen(name, role)

    store.run(seen)


def are_alive(store: Store, within_seconds: float = 6) -> bool:
    return store.run(lambda books: books.workers.are_alive(within_seconds))


def test_it_takes_a_worker_and_a_dispatcher(store: Store) -> None:
    """One without the other gets nothing done."""
    assert not are_alive(store)
    tell(store, w1=Role.WORKER, w2=Role.WORKER)
    assert not are_alive(store)
    tell(store, d1=Role.DISPATCHER)
    assert are_alive(store)


def test_a_sign_of_life_is_good_for_some_seconds(store: Store) -> None:
    """Then whoever gave it counts as dead, until the next one."""
    tell(store, w1=Role.WORKER, d1=Role.DISPATCHER)
    store.pass_time(30)
    assert (are_alive(store, 25), are_alive(store, 60)) == (False, True)
    tell(store, d1=Role.DISPATCHER)
    assert not are_alive(store, 25)
    tell(store, w1=Role.WORKER)
    assert are_alive(store, 25)


def test_a_sign_from_a_clock_far_ahead_does_not_count(store: Store) -> None:
    """The clock was set back: nobody has been seen since."""
    tell(store, w1=Role.WORKER, d1=Role.DISPATCHER)
    store.pass_time(-3600)
    assert not are_alive(store)


def test_who_leaves_is_not_alive(store: Store) -> None:
    """The others are; leaving twice, or without ever having come, changes nothing."""
    tell(store, w1=Role.WORKER, w2=Role.WORKER, d1=Role.DISPATCHER)
    for name in ("w1", "w1", "w404"):
        store.run(lambda books, name=name: books.workers.forget(name))  # type: ignore[misc]
    assert are_alive(store)
    store.run(lambda books: books.workers.forget("w2"))
    assert not are_alive(store)
