"""`PlanBook`: what is billed, as it was told."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest

from domain.billing.plans import Tax
from tests.contracts.billing import OCTOBER, SEPTEMBER, accounts, have, issue_all, item, subscription
from tests.contracts.stores import Books, Store

FULL = replace(
    subscription("契約-1", customer_id="顧客-1", price=2**63 - 1, currency="USD", tax=Tax(82_500, included=True)),
    start=date(1900, 1, 1),
    end=date(9998, 12, 31),
)
CREDIT = item("値引-1", customer_id="顧客-1", amount=-(2**63 - 1), currency="USD", tax=Tax(1_000_000, included=False))


def test_what_is_stored_comes_back_as_it_was(store: Store) -> None:
    """To the last digit and the last day; unknown ids are missing in the answer."""
    have(store, FULL, subscription(), CREDIT, item())
    known = store.run(lambda books: dict(books.plans.subscriptions(["?", "s-1", "契約-1"])))
    assert known == {"契約-1": FULL, "s-1": subscription()}
    assert store.run(lambda books: dict(books.plans.items(["値引-1", "?", "i-1"]))) == {"値引-1": CREDIT, "i-1": item()}


def test_the_end_of_a_known_subscription_is_written(store: Store) -> None:
    """Beside new ones."""
    have(store, subscription())
    ended = subscription(end=date(2026, 12, 31))
    store.run(lambda books: books.plans.save_subscriptions([ended, subscription("s-2")]))
    known = store.run(lambda books: dict(books.plans.subscriptions(["s-1", "s-2"])))
    assert known == {"s-1": ended, "s-2": subscription("s-2")}


TAKEN: list[tuple[str, Callable[[Books], None]]] = [
    ("subscription", lambda books: books.plans.save_subscriptions([subscription(customer_id="c-2")])),
    ("item", lambda books: books.plans.add_items([item(customer_id="c-2")])),
]


@pytest.mark.parametrize("save", [save for _, save in TAKEN], ids=[kind for kind, _ in TAKEN])
def test_an_id_that_was_taken_meanwhile_starts_the_unit_again(store: Store, save: Callable[[Books], None]) -> None:
    """By another file, for another customer, whose lock is not ours: the first content stays."""
    have(store, subscription(), item())
    runs: list[str] = []

    def work(books: Books) -> None:
        runs.append("begun")
        if len(runs) == 1:
            save(books)

    store.run(work)
    assert len(runs) == 2
    assert store.run(lambda books: books.plans.subscriptions(["s-1"])["s-1"]) == subscription()
    assert store.run(lambda books: books.plans.items(["i-1"])["i-1"]) == item()


def test_an_end_can_be_opened_again(store: Store) -> None:
    """Who stays on after all has no end any more."""
    have(store, subscription(end=date(2026, 12, 31)))
    store.run(lambda books: books.plans.save_subscriptions([subscription()]))
    assert store.run(lambda books: books.plans.subscriptions(["s-1"])["s-1"].end) is None


def test_a_customers_currency_is_that_of_any_price(store: Store) -> None:
    """Of a subscription or of an item alone; who has neither has none."""
    have(store, subscription(currency="USD"), item("i-1", currency="USD"))
    have(store, item("i-2", customer_id="c-2", currency="KRW"))
    asked = ["c-1", "c-2", "c-3"]
    assert store.run(lambda books: dict(books.plans.currencies(asked))) == {"c-1": "USD", "c-2": "KRW"}


def test_an_item_counts_for_the_currency_when_it_is_billed_already(store: Store) -> None:
    """A customer does not change the currency with the month."""
    have(store, item())
    issue_all(store)
    assert store.run(lambda books: dict(books.plans.currencies(["c-1"]))) == {"c-1": "JPY"}


def test_a_subscription_is_billed_through_the_last_day_on_any_bill(store: Store) -> None:
    """One that is on no bill is missing in the answer, and an item of the same name does not count."""
    have(store, subscription("s-1"), subscription("s-2", start=date(2026, 11, 1)), item("s-2"))
    for month in (OCTOBER, SEPTEMBER):
        issue_all(store, month)
    billed_through = store.run(lambda books: dict(books.plans.billed_through(["s-1", "s-2", "?"])))
    assert billed_through == {"s-1": date(2026, 10, 31)}


def test_a_new_subscription_is_looked_for_on_earlier_bills(store: Store) -> None:
    """Until the next bill; then nothing of it can be missing."""
    have(store, subscription())
    assert accounts(store)[0].unsettled == {"s-1"}
    issue_all(store)
    assert accounts(store, OCTOBER)[0].unsettled == frozenset()


def test_a_changed_end_is_looked_for_on_earlier_bills(store: Store) -> None:
    """Days that nobody has billed may lie behind."""
    have(store, subscription(end=date(2026, 9, 20)))
    issue_all(store)
    store.run(lambda books: books.plans.save_subscriptions([subscription(end=date(2026, 9, 30))]))
    assert accounts(store, OCTOBER)[0].unsettled == {"s-1"}


def test_nothing_to_store_is_no_work(store: Store) -> None:
    """Empty sets change nothing."""
    store.run(lambda books: books.plans.save_subscriptions([]))
    store.run(lambda books: books.plans.add_items([]))
    assert store.run(lambda books: dict(books.plans.currencies([]))) == {}
