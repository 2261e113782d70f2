"""Transactions that Postgres breaks: units start again, and what is once stays once."""

from collections.abc import Callable

import psycopg
import pytest

from adapters.postgres.engine import open_engine
from adapters.postgres.transactions import PostgresTransactions
from domain.errors import Unavailable
from domain.operations import State, Step
from domain.orders.events import Arrival
from tests.contracts.accounts import account, grant_each
from tests.contracts.breaking import break_commit, isolate
from tests.contracts.crowds import in_threads
from tests.contracts.samples import confirmed, grant, parcel
from tests.contracts.stores import Books, PostgresStore
from tests.contracts.work import claim, gate, now, register, send_one, settle

ORDERS = [f"o-{number}" for number in range(10)]


Broken = Callable[[], Callable[[], int]]


@pytest.fixture(params=[True, False], ids=["arrived", "never arrived"])
def commits(request: pytest.FixtureRequest, postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> Broken:
    """Breaks the next COMMIT: nobody can tell whether it happened."""
    return lambda: break_commit(postgres_store.engine, monkeypatch, arrives=request.param)


def test_a_grant_whose_commit_is_in_doubt_is_made_once(postgres_store: PostgresStore, commits: Broken) -> None:
    """The unit runs again and reads by key what is there."""
    tried = commits()
    grant_each(postgres_store, grant("o-1"))
    assert tried() == 2
    assert account(postgres_store).balance == 100


def test_events_whose_commit_is_in_doubt_are_stored_once(postgres_store: PostgresStore, commits: Broken) -> None:
    """They are never reported as contradicting themselves."""
    tried = commits()
    arrivals = postgres_store.run(lambda books: books.inbox.store_each([confirmed("e-1"), confirmed("e-2")]))
    assert tried() == 2
    assert set(arrivals) <= {Arrival.NEW, Arrival.DUPLICATE}
    assert postgres_store.run(lambda books: books.inbox.due()) == 2


def test_a_claim_whose_commit_is_in_doubt_is_the_claimants(postgres_store: PostgresStore, commits: Broken) -> None:
    """The same attempt goes on: it was counted once, and no more work was taken."""
    register(postgres_store, *(parcel(order_id) for order_id in ORDERS))
    tried = commits()
    claimed = claim(postgres_store, "w/1", limit=3)
    assert tried() == 2
    assert [(operation.epoch, operation.attempts) for operation in claimed] == [(1, 1)] * 3
    assert len(claim(postgres_store, "w/2", limit=10)) == len(ORDERS) - 3


def test_a_gate_whose_commit_is_in_doubt_opens(postgres_store: PostgresStore, commits: Broken) -> None:
    """It is still the claimant's, and still the same attempt."""
    register(postgres_store, parcel("o-1"))
    (claimed,) = claim(postgres_store)
    tried = commits()
    (gated,) = gate(postgres_store, claimed)
    assert tried() == 2
    assert now(postgres_store, claimed.key) == gated


def test_a_settlement_whose_commit_is_in_doubt_is_written(postgres_store: PostgresStore, commits: Broken) -> None:
    """What became of the call is not lost, and given back at most once."""
    sent = send_one(postgres_store)
    tried = commits()
    settle(postgres_store, sent, Step(State.READY, "429", {"command_id": "c1"}, give_back=True))
    assert tried() == 2
    operation = now(postgres_store, sent.key)
    assert (operation.state, operation.attempts, operation.result) == (State.READY, 0, {"command_id": "c1"})


def test_a_unit_whose_connection_is_killed_starts_again(postgres_store: PostgresStore) -> None:
    """What it had written is gone with the connection, and is written once."""
    runs: list[str] = []

    def work(books: Books) -> bool:
        runs.append("begun")
        granted = books.ledger.grant_once(grant("o-1"))
        if len(runs) == 1:
            with psycopg.connect(postgres_store.database_url, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
        return granted and books.ledger.grant_once(grant("o-2"))

    assert postgres_store.run(work)
    assert len(runs) == 2
    assert account(postgres_store).balance == 200


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_a_stricter_isolation_only_starts_units_again(postgres_store: PostgresStore, isolation: str) -> None:
    """Where the database is set so, it answers races with serialization failures, at COMMIT too."""
    isolate(postgres_store, isolation)

    def deliver_and_grant(number: int) -> int:
        event, granted = confirmed("e-1"), 0
        postgres_store.run(lambda books: books.inbox.store_each([event]))
        postgres_store.run(lambda books: books.operations.register_each([parcel("o-1")]))
        for order_id in ORDERS:
            granted += grant_each(postgres_store, grant(order_id)) == [True]
        return granted

    assert sum(in_threads(deliver_and_grant)) == len(ORDERS)
    assert account(postgres_store).balance == 100 * len(ORDERS)
    assert postgres_store.run(lambda books: (books.inbox.due(), len(books.operations.find()))) == (1, 1)


def test_a_database_that_cannot_be_reached_is_unavailable(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fact for whoever asked, not an error of ours."""
    monkeypatch.setattr("adapters.postgres.transactions.PATIENCE_SECONDS", 0.2)
    nowhere = open_engine("postgresql://nobody@127.0.0.1:1/nowhere")
    with pytest.raises(Unavailable, match="did not answer"):
        PostgresTransactions(nowhere).run(lambda _: None)


def test_a_mistake_of_ours_is_not_tried_again(postgres_store: PostgresStore) -> None:
    """Only what may pass by itself is."""
    runs: list[str] = []

    def work(books: Books) -> None:
        runs.append("begun")
        books.ledger.grant_once(grant("o-1", points=0))

    with pytest.raises(Exception, match="point_lots_signs_check"):
        postgres_store.run(work)
    assert len(runs) == 1
