"""Issuing bills while Postgres breaks: nothing is missing, nothing is there twice, and no number is lost."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import text

from application.billing import CreateBills
from application.payments import RequestRefund
from tests.contracts.billing import SEPTEMBER, TERMS, have, paid, set_clock, subscription
from tests.contracts.breaking import break_commit, isolate
from tests.contracts.crowds import in_threads
from tests.contracts.stores import PostgresStore
from tests.contracts.waiting import DEADLINE_SECONDS, until_somebody_waits
from tests.fakes.clock import START, FakeClock

CUSTOMERS = [f"c-{number:02}" for number in range(20)]


def everyone(store: PostgresStore) -> None:
    set_clock(store, START)
    have(store, *(subscription(f"s of {one}", customer_id=one) for one in CUSTOMERS))


def create(store: PostgresStore, *, set_customers: int = 1000) -> CreateBills:
    return CreateBills(store.transactions, FakeClock(), TERMS, set_customers=set_customers)


def assert_billed_once(store: PostgresStore) -> None:
    """Every customer has one bill and one charge, and the numbers have no gap."""
    with store.engine.connect() as connection:
        bills = connection.execute(text("SELECT customer_id, number, charge_key FROM bills ORDER BY number")).all()
        keys = connection.execute(text("SELECT key FROM operations WHERE kind = 'billing' ORDER BY key")).scalars()
        assert sorted(one.customer_id for one in bills) == CUSTOMERS
        assert [one.number for one in bills] == list(range(1, len(CUSTOMERS) + 1))
        assert list(keys) == sorted(one.charge_key for one in bills)


@pytest.mark.parametrize("number", range(1, 7))
@pytest.mark.parametrize("arrives", [True, False], ids=["arrived", "never arrived"])
def test_a_commit_in_doubt_bills_everybody_once(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch, number: int, *, arrives: bool
) -> None:
    """Whichever COMMIT of the run it was (B27)."""
    everyone(postgres_store)
    tried = break_commit(postgres_store.engine, monkeypatch, arrives=arrives, number=number)
    creation = create(postgres_store, set_customers=10).execute(SEPTEMBER)
    assert tried() > number
    assert creation.failed == []
    assert_billed_once(postgres_store)


@pytest.mark.parametrize("arrives", [True, False], ids=["arrived", "never arrived"])
def test_a_commit_in_doubt_counts_the_bills_as_created(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch, *, arrives: bool
) -> None:
    """By this run, for nobody else was there; the fourth COMMIT is that of the first set."""
    everyone(postgres_store)
    break_commit(postgres_store.engine, monkeypatch, arrives=arrives, number=4)
    creation = create(postgres_store).execute(SEPTEMBER)
    assert (creation.created, dict(creation.totals)) == (len(CUSTOMERS), {"JPY": 1100 * len(CUSTOMERS)})


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_serialization_failures_are_retries_only(postgres_store: PostgresStore, isolation: str) -> None:
    """Nobody is named as failed because of a race (B20)."""
    everyone(postgres_store)
    isolate(postgres_store, isolation)

    def run(number: int) -> int:
        creation = create(postgres_store, set_customers=3 + number).execute(SEPTEMBER)
        assert creation.failed == []
        return creation.created

    assert sum(in_threads(run)) == len(CUSTOMERS)
    assert_billed_once(postgres_store)


def test_a_deadlock_is_a_retry_only(postgres_store: PostgresStore) -> None:
    """Somebody holds the numbers and wants a customer that the run holds: Postgres stops the run, which begins anew."""
    everyone(postgres_store)
    create(postgres_store).execute(SEPTEMBER, CUSTOMERS[:1])
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(postgres_store.database_url) as saboteur,
    ):
        saboteur.execute("SET deadlock_timeout = '60s'")  # the run waits first, and is the one to be stopped
        saboteur.execute("SELECT FROM bill_numbers FOR UPDATE")
        run = pool.submit(create(postgres_store).execute, SEPTEMBER)
        until_somebody_waits(postgres_store, run)
        saboteur.execute("SELECT FROM customers WHERE customer_id = %s FOR UPDATE", CUSTOMERS[-1:])
        saboteur.rollback()
        creation = run.result(DEADLINE_SECONDS)
    assert (creation.created, creation.failed) == (len(CUSTOMERS) - 1, [])
    assert_billed_once(postgres_store)


@pytest.mark.parametrize("arrives", [True, False], ids=["arrived", "never arrived"])
def test_a_refund_whose_commit_is_in_doubt_is_asked_for_once(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch, *, arrives: bool
) -> None:
    """The same refund is the answer, not a refusal because nothing remains."""
    paid(postgres_store, 5000)
    tried = break_commit(postgres_store.engine, monkeypatch, arrives=arrives)
    refund = RequestRefund(postgres_store.transactions).execute("R1", "c-1", "2026-09", 5000)
    assert (tried(), refund.money.amount) == (2, 5000)
    refunds = postgres_store.run(lambda books: books.refunds.of_charge("c-1", "2026-09"))
    assert [one.refund_id for one in refunds] == ["R1"]
