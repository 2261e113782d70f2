"""Whatever is told and billed in whatever order: the fake and Postgres bill alike, each day and each item once."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from application.billing import CreateBills, ImportItems, ImportSubscriptions
from domain.calendar import Month
from domain.customers import Customer
from tests.contracts.billing import TERMS
from tests.contracts.stores import Books, InMemoryStore, PostgresStore, Store
from tests.fakes.clock import FakeClock

CUSTOMERS: Final = ("c-1", "c-2")
# Few enough that the same one is met again and again: whose, its price, its first day.
SUBSCRIPTIONS: Final = {
    "s-1": ("c-1", 3100, date(2026, 1, 1)),
    "s-2": ("c-1", 2999, date(2026, 2, 16)),
    "s-3": ("c-1", 100, date(2026, 4, 30)),
    "s-4": ("c-2", 1, date(2026, 1, 31)),
}
FIRST: Final = Month(2026, 1)
MONTHS: Final = [FIRST.plus(number) for number in range(6)]

_examples = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Subscribing:
    """A subscription, or another end of it; none is open."""

    subscription_id: str
    days: int | None

    def make(self, store: Store, example: str) -> object:
        customer_id, price, start = SUBSCRIPTIONS[self.subscription_id]
        row = {
            **{"subscription_id": example + self.subscription_id, "customer_id": example + customer_id, "plan": "p"},
            **{"price": price, "currency": "JPY", "tax_rate": "10", "tax_included": False, "start": str(start)},
            "end": "" if self.days is None else str(start + timedelta(days=self.days)),
        }
        return [str(one) for one in ImportSubscriptions(store.transactions).execute([row])]


@dataclass(frozen=True, slots=True)
class Selling:
    """An item, or a credit; a known one again."""

    item_id: int
    day: int
    amount: int

    def make(self, store: Store, example: str) -> object:
        row = {
            **{"item_id": f"{example}i-{self.item_id}", "customer_id": example + CUSTOMERS[self.item_id % 2]},
            **{"date": str(FIRST.first_day + timedelta(days=self.day)), "description": "d", "amount": self.amount},
            **{"currency": "JPY", "tax_rate": "8", "tax_included": True},
        }
        return [str(one) for one in ImportItems(store.transactions).execute([row])]


@dataclass(frozen=True, slots=True)
class Closing:
    """A new closing day of a customer."""

    customer_id: str
    day: int

    def make(self, store: Store, example: str) -> object:
        customer = Customer(example + self.customer_id, payment_method="pm_card_visa", closing_day=self.day)
        return store.run(lambda books: books.customers.save([customer]))


@dataclass(frozen=True, slots=True)
class Running:
    """One month, for both customers."""

    month: Month

    def make(self, store: Store, example: str) -> object:
        creation = CreateBills(store.transactions, FakeClock(), TERMS).execute(self.month, customers(example))
        return creation.created, creation.failed, dict(creation.totals)


def customers(example: str) -> list[str]:
    return [example + one for one in CUSTOMERS]


MOVES: Final = st.lists(
    st.one_of(
        st.builds(Subscribing, st.sampled_from(sorted(SUBSCRIPTIONS)), st.none() | st.integers(0, 150)),
        st.builds(Selling, st.integers(1, 5), st.integers(0, 180), st.integers(-300, 300)),
        st.builds(Closing, st.sampled_from(CUSTOMERS), st.sampled_from([1, 10, 28, 30, 31])),
        st.builds(Running, st.sampled_from(MONTHS)),
        st.builds(Running, st.sampled_from(MONTHS)),
    ),
    max_size=20,
)

# A subscription that came to light late, and then a month that had never been run.
LATE_AND_OUT_OF_ORDER: Final = [
    Subscribing("s-1", None),
    Running(MONTHS[1]),
    Subscribing("s-2", None),
    Running(MONTHS[0]),
]


def bills(store: Store, example: str) -> list[tuple[Sequence[Any], Sequence[Mapping[str, Any]]]]:
    """Every bill of both customers but its number, and its lines."""

    def read(books: Books, customer_id: str) -> tuple[Sequence[Any], Sequence[Mapping[str, Any]]]:
        found = books.bills.of_customer(customer_id)
        return [(one.month, one.total, one.settlement, one.attempt) for one in found], books.bills.lines(customer_id)

    return store.run(lambda books: [read(books, one) for one in customers(example)])


def assert_every_day_is_billed_once(store: InMemoryStore, example: str) -> None:
    """Of each subscription, in every period that was billed: after the last run nothing is missing."""
    books = store.transactions.books
    for one in books.plans.known.values():
        if one.customer_id not in customers(example):
            continue
        owed = {
            one.start + timedelta(days=number)
            for issued in books.bills.issued.values()
            if issued.bill.customer_id == one.customer_id and (own := one.days.within(issued.bill.period)) is not None
            for number in range((own.first - one.start).days, (own.last - one.start).days + 1)
        }
        billed = [
            days.first + timedelta(days=number)
            for days in books.plans.billed_days[one.subscription_id]
            for number in range(days.count)
        ]
        assert sorted(billed) == sorted(owed), f"{one.subscription_id} of {one.customer_id}"


# The same moves in every run; the database is the same for all examples, so each has customers of its own.
@settings(max_examples=80, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(moves=LATE_AND_OUT_OF_ORDER)
@given(moves=MOVES)
def test_the_fake_bills_as_postgres_does(
    postgres_store: PostgresStore, moves: Sequence[Subscribing | Selling | Closing | Running]
) -> None:
    """Tests that use the fake prove something; and after a last run each day of a billed period is on one bill."""
    fake, prefix = InMemoryStore(), f"{next(_examples)}/"
    for store in (fake, postgres_store):
        store.run(lambda books: books.customers.ensure(customers(prefix)))
    closing = [Closing(customer_id, 31) for customer_id in CUSTOMERS]
    for move in [*closing, *moves, Running(MONTHS[-1].plus(1))]:
        assert move.make(fake, prefix) == move.make(postgres_store, prefix)
    assert bills(fake, prefix) == bills(postgres_store, prefix)
    assert_every_day_is_billed_once(fake, prefix)
