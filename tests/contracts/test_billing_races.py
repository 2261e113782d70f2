"""One month billed by many processes at once, and refunds that race for the same money."""

from collections.abc import Sequence

from sqlalchemy import text

from adapters.postgres.transactions import PostgresTransactions
from application.billing import CreateBills
from application.payments import RequestRefund
from domain.calendar import Month
from domain.errors import Refused
from tests.contracts.billing import TERMS, have, item, paid, subscription
from tests.contracts.crowds import CROWD, ProcessCrowd
from tests.contracts.stores import PostgresStore
from tests.fakes.clock import FakeClock

CUSTOMERS = [f"c-{number:03}" for number in range(100)]
MONTHS = [Month(2024, number) for number in range(1, 7)]
CHARGED = [f"c-{number:02}" for number in range(25)]


def bill_each_month(transactions: PostgresTransactions, number: int) -> int:
    """Half of the crowd runs the month as it is, in sets of its own size; the others name customers, in their order."""
    created = 0
    for month in MONTHS:
        if number % 2:
            create = CreateBills(transactions, FakeClock(), TERMS, set_customers=3 + 7 * number)
            created += create.execute(month).created
        else:
            size = 10 + number
            sets = [CUSTOMERS[first : first + size] for first in range(0, len(CUSTOMERS), size)]
            create = CreateBills(transactions, FakeClock(), TERMS)
            for named in sets[::-1] if number % 4 else sets:
                creation = create.execute(month, named[::-1])
                assert creation.failed == []
                created += creation.created
    return created


def rows(store: PostgresStore, statement: str) -> Sequence[tuple[object, ...]]:
    with store.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def test_a_month_billed_by_eight_processes_is_billed_once(
    postgres_store: PostgresStore, processes: ProcessCrowd
) -> None:
    """A hundred bills, numbers without a gap, a hundred charges; races and deadlocks are retries at most (B20)."""
    start = MONTHS[0].first_day
    have(
        postgres_store,
        *(subscription(f"s of {one}", customer_id=one, start=start) for one in CUSTOMERS),
        *(item(f"i of {one}", customer_id=one, day=start) for one in CUSTOMERS[::3]),
    )
    created = processes.run(bill_each_month, postgres_store.database_url)
    bills = len(CUSTOMERS) * len(MONTHS)
    assert sum(created) == bills
    numbers = [number for (number,) in rows(postgres_store, "SELECT number FROM bills ORDER BY number")]
    assert numbers == list(range(1, bills + 1))
    per_month = rows(postgres_store, "SELECT month, count(*) FROM bills GROUP BY month ORDER BY month")
    assert per_month == [(str(month), len(CUSTOMERS)) for month in MONTHS]
    assert rows(postgres_store, "SELECT count(DISTINCT key) FROM operations WHERE kind = 'billing'") == [(bills,)]
    assert rows(postgres_store, "SELECT count(*) FROM bill_lines WHERE kind = 'item'") == [(len(CUSTOMERS[::3]),)]
    assert rows(postgres_store, "SELECT count(*) FROM bill_lines WHERE kind = 'subscription'") == [(bills,)]


def refund_sixty_of_each(transactions: PostgresTransactions, number: int) -> list[str]:
    """Asks for 60 of a hundred of each charge. Returns: who gets it."""
    request, granted = RequestRefund(transactions), []
    for customer_id in CHARGED:
        try:
            request.execute(f"R{number} of {customer_id}", customer_id, "2026-09", 60)
            granted.append(customer_id)
        except Refused as refused:
            assert "40 of 100 JPY remain" in str(refused)  # noqa: PT017
    return granted


def test_of_refunds_at_once_that_exceed_the_charge_one_passes(
    postgres_store: PostgresStore, processes: ProcessCrowd
) -> None:
    """Sixty of a hundred, asked for eight times at the same moment, goes back once (B28)."""
    for customer_id in CHARGED:
        paid(postgres_store, 100, customer_id)
    granted = processes.run(refund_sixty_of_each, postgres_store.database_url)
    assert sorted(one for some in granted for one in some) == CHARGED
    sums = rows(postgres_store, "SELECT customer_id, sum(amount)::int FROM refunds GROUP BY 1 ORDER BY 1")
    assert sums == [(customer_id, 60) for customer_id in CHARGED]
    assert rows(postgres_store, "SELECT count(*) FROM operations WHERE kind = 'refund'") == [(len(CHARGED),)]


def refund_ten_times(transactions: PostgresTransactions, number: int) -> list[str]:
    """Asks for all ten refunds, from another one on than the others. Returns: those that passed."""
    request, granted = RequestRefund(transactions), []
    for turn in range(10):
        refund_id = f"R{(number + turn) % 10}"
        try:
            request.execute(refund_id, "c-1", "2026-09", 1000)
            granted.append(refund_id)
        except Refused as refused:
            assert "899 of 9899 JPY remain" in str(refused)  # noqa: PT017
    return granted


def test_ten_refunds_at_once_stop_at_the_charge(postgres_store: PostgresStore, processes: ProcessCrowd) -> None:
    """Nine of a thousand fit into 9899; asked for by everybody, each of the nine is one refund (B28)."""
    paid(postgres_store, 9899)
    granted = processes.run(refund_ten_times, postgres_store.database_url)
    stored = {refund_id for (refund_id,) in rows(postgres_store, "SELECT refund_id FROM refunds")}
    assert len(stored) == 9
    assert all(set(some) <= stored for some in granted)
    assert len(granted) == CROWD
    assert rows(
        postgres_store,
        "SELECT count(*), sum((request::json ->> 'amount')::int)::int FROM operations WHERE kind = 'refund'",
    ) == [(9, 9000)]
