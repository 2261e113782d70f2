"""`CustomerBook`: customers as the shop tells of them."""

from domain.customers import Customer
from tests.contracts.samples import CONFIRMED_AT
from tests.contracts.stores import Books, Store

FULL = Customer(
    customer_id="顧客-1",
    email="taro@例え.jp",
    name="山田 太郎 🎉",
    locale="en",
    payment_method="pm_card_visa",
    payment_customer="cus_1",
    closing_day=20,
    as_of=CONFIRMED_AT.replace(microsecond=123_456),
)


def ensure(store: Store, *customer_ids: str) -> None:
    store.run(lambda books: books.customers.ensure(customer_ids))


def lock(store: Store, *customer_ids: str) -> dict[str, Customer]:
    return store.run(lambda books: dict(books.customers.lock(customer_ids)))


def test_a_customer_can_be_known_by_id_alone(store: Store) -> None:
    """Any event that mentions one is enough."""
    ensure(store, "c-1")
    assert lock(store, "c-1") == {"c-1": Customer("c-1")}


def test_what_is_known_of_a_customer_survives_being_mentioned(store: Store) -> None:
    """Making sure of a known customer changes nothing; the others of the call are made."""
    ensure(store, FULL.customer_id)
    store.run(lambda books: books.customers.save([FULL]))
    ensure(store, "c-9", FULL.customer_id, "c-2", "c-9")
    everyone = {FULL.customer_id: FULL, "c-2": Customer("c-2"), "c-9": Customer("c-9")}
    assert lock(store, "c-2", "c-9", FULL.customer_id) == everyone


def test_those_that_exist_are_locked(store: Store) -> None:
    """Unknown ones are missing in the answer."""
    ensure(store, "c-1", "c-2", "c-3")
    assert lock(store, "c-3", "c-404", "c-1") == {"c-1": Customer("c-1"), "c-3": Customer("c-3")}
    assert lock(store) == {}


def test_customers_are_saved_whole(store: Store) -> None:
    """What is no longer said is gone; those not named stay as they were."""
    ensure(store, FULL.customer_id, "c-2", "c-3")

    def save(books: Books) -> None:
        books.customers.lock([FULL.customer_id, "c-2"])
        books.customers.save([Customer("c-2", name="second", closing_day=1), FULL])

    store.run(save)
    store.run(lambda books: books.customers.save([Customer("c-2")]))
    everyone = {FULL.customer_id: FULL, "c-2": Customer("c-2"), "c-3": Customer("c-3")}
    assert lock(store, FULL.customer_id, "c-2", "c-3") == everyone


def test_nobody_to_ensure_or_save_is_no_work(store: Store) -> None:
    """Empty sets change nothing."""
    ensure(store)
    store.run(lambda books: books.customers.save([]))
