"""Whatever is granted, spent and taken back: the fake and Postgres give the same answers and end alike."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.points import EntryKind, PointGrant, PointLot, PointReversal
from tests.contracts.accounts import account, grant_each, reverse_each
from tests.contracts.identities import assert_identities
from tests.contracts.stores import InMemoryStore, PostgresStore, Store

# Few enough that the same order is met again and again. Each order has its customer.
OWNERS: Final = {"o-1": "c-1", "o-2": "c-1", "o-3": "c-1", "o-4": "c-2", "o-5": "c-2"}

_examples = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Granting:
    """One call with (order, reason, points, month of end) each."""

    grants: Sequence[tuple[str, str, int, int]]

    def make(self, store: Store, example: str) -> object:
        return grant_each(
            store,
            *(
                PointGrant(example + order_id, reason, example + OWNERS[order_id], points, date(2027, month, 28))
                for order_id, reason, points, month in self.grants
            ),
        )


@dataclass(frozen=True, slots=True)
class Reversing:
    """One call with (order, cause) each."""

    reversals: Sequence[tuple[str, str]]

    def make(self, store: Store, example: str) -> object:
        return reverse_each(
            store,
            *(PointReversal(example + order_id, "order_confirmed", cause) for order_id, cause in self.reversals),
        )


@dataclass(frozen=True, slots=True)
class Lowering:
    """Points spent from an order's lot, or expired, as far as it has any left."""

    kind: EntryKind
    order_id: str
    points: int

    def make(self, store: Store, example: str) -> object:
        order_id, customer_id = example + self.order_id, example + OWNERS[self.order_id]
        lots = {(lot.order_id, lot.reason): lot.remaining for lot in account(store, customer_id).lots}
        points = min(self.points, lots.get((order_id, "order_confirmed"), 0))
        if points:
            store.lower(self.kind, customer_id, order_id, points)
        return points


ORDERS: Final = st.sampled_from(sorted(OWNERS))
POINTS: Final = st.integers(1, 50)
REASONS: Final = st.sampled_from(["order_confirmed", "apology"])
MOVES: Final = st.lists(
    st.one_of(
        st.lists(st.tuples(ORDERS, REASONS, POINTS, st.integers(1, 2)), min_size=1, max_size=4).map(Granting),
        st.lists(st.tuples(ORDERS, st.sampled_from(["cancelled#2", "cancelled#4"])), min_size=1, max_size=3).map(
            Reversing
        ),
        st.builds(Lowering, st.sampled_from([EntryKind.REDEEM, EntryKind.EXPIRE]), ORDERS, POINTS),
    ),
    max_size=12,
)


def lots_and_history(store: Store, customer_id: str) -> object:
    """An account and all its lines, without their times."""

    def shown(lot: PointLot) -> tuple[object, ...]:
        return lot.order_id, lot.reason, lot.points, lot.remaining, lot.reversed, lot.expired

    lines = store.run(lambda books: list(books.ledger.history(customer_id)))
    return (
        account(store, customer_id).balance,
        [shown(lot) for lot in account(store, customer_id).lots],
        [(line.kind, line.points, line.balance_after, line.order_id, line.reason) for line in lines],
    )


# The same moves in every run; the database is the same for all examples, so each has customers of its own.
@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES)
def test_the_fake_ledger_does_as_postgres_does(
    postgres_store: PostgresStore, moves: Sequence[Granting | Reversing | Lowering]
) -> None:
    """Tests that use the fake prove something about the shop."""
    fake, example = InMemoryStore(), f"{next(_examples)}/"
    for move in moves:
        assert move.make(fake, example) == move.make(postgres_store, example)
        fake.pass_time(1)
    for customer_id in ("c-1", "c-2"):
        assert lots_and_history(fake, example + customer_id) == lots_and_history(postgres_store, example + customer_id)
    assert_identities(fake.tallies())
