"""`PointLedger` when many grant and reverse at once, in threads and in processes."""

from adapters.postgres.transactions import PostgresTransactions
from domain.points import EntryKind, PointGrant
from tests.contracts.accounts import account, bring_into_debt, grant_each, open_lots, reverse_each
from tests.contracts.crowds import CROWD, ProcessCrowd, in_threads
from tests.contracts.samples import grant, reversal
from tests.contracts.stores import Books, PostgresStore, Store

ORDERS = [f"o-{number}" for number in range(20)]
ROUNDS = 5
CUSTOMERS = [f"c-{number:02}" for number in range(12)]


def test_of_eight_threads_one_grants_each_order(store: Store) -> None:
    """The others are told that it was done."""
    answers = in_threads(lambda _: [grant_each(store, grant(order_id)) == [True] for order_id in ORDERS])
    assert [sum(votes) for votes in zip(*answers, strict=True)] == [1] * len(ORDERS)
    assert account(store).balance == 100 * len(ORDERS)


def test_of_eight_threads_one_takes_each_order_back(store: Store) -> None:
    """No grant is reversed twice, however many cancel it at once."""
    grant_each(store, *(grant(order_id) for order_id in ORDERS))

    def cancel(_: int) -> list[int]:
        return [points for order_id in ORDERS for points in reverse_each(store, reversal(order_id))]

    assert [sum(taken) for taken in zip(*in_threads(cancel), strict=True)] == [100] * len(ORDERS)
    assert account(store).balance == 0


def test_grants_and_reversals_of_one_customer_at_once_add_up(store: Store) -> None:
    """Whatever their order, no line gets lost and the lots agree with it."""
    grant_each(store, *(grant(order_id) for order_id in ORDERS))

    def work(number: int) -> None:
        for order_id in ORDERS[number::CROWD]:
            if number % 2:
                grant_each(store, grant(f"new-{order_id}", 7))
            reverse_each(store, reversal(order_id))

    in_threads(work)
    new = sum(1 for number in range(1, CROWD, 2) for _ in ORDERS[number::CROWD])
    assert account(store).balance == 7 * new


def test_debts_are_repaid_once_however_many_grant_at_once(store: Store) -> None:
    """Each grant sees what the others have repaid."""
    for customer_id in CUSTOMERS:
        bring_into_debt(store, 60, customer_id)

    def grant_to_all(number: int) -> None:
        for customer_id in CUSTOMERS:
            grant_each(store, grant(f"{customer_id}-{number}", 50, customer_id=customer_id))

    in_threads(grant_to_all)
    for customer_id in CUSTOMERS:
        assert account(store, customer_id).balance == sum(open_lots(store, customer_id).values()) == 50 * CROWD - 60


def test_reversals_at_once_never_take_the_same_points(store: Store) -> None:
    """What one order's reversal took from another's lot is gone for the next."""
    for customer_id in CUSTOMERS:
        lots = [grant(f"{customer_id}-{number}", 10, customer_id=customer_id) for number in range(CROWD)]
        grant_each(store, *lots, grant(f"{customer_id}-open", 35, customer_id=customer_id))
        for lot in lots:
            store.lower(EntryKind.REDEEM, customer_id, lot.order_id, 10)

    def cancel_one_of_each(number: int) -> list[int]:
        return [points for one in CUSTOMERS for points in reverse_each(store, reversal(f"{one}-{number}"))]

    assert in_threads(cancel_one_of_each) == [[10] * len(CUSTOMERS)] * CROWD
    assert {account(store, customer_id).debt for customer_id in CUSTOMERS} == {10 * CROWD - 35}


def grants_for_all(number: int) -> list[list[PointGrant]]:
    """Sets over the same customers, forwards for half of the crowd and backwards for the other half."""
    sets = [
        [grant(f"{customer_id}-{number}-{turn}", 1, customer_id=customer_id) for customer_id in CUSTOMERS]
        for turn in range(ROUNDS)
    ]
    return sets if number % 2 else [grants[::-1] for grants in sets]


def test_sets_in_opposite_order_of_customers_all_succeed(store: Store) -> None:
    """Locks are taken in one order, so that no two sets wait for each other for ever."""
    answers = in_threads(lambda number: [grant_each(store, *grants) for grants in grants_for_all(number)])
    assert all(all(answer) for sets in answers for answer in sets)
    assert {account(store, customer_id).balance for customer_id in CUSTOMERS} == {CROWD * ROUNDS}


def test_units_that_grant_and_reverse_in_turn_need_not_start_again(store: Store) -> None:
    """What all their writes will move is locked first, in one order."""
    old = [
        grant(f"old-{customer_id}-{number}", customer_id=customer_id)
        for customer_id in CUSTOMERS
        for number in range(CROWD)
    ]
    grant_each(store, *old)
    runs: list[int] = []

    def move(number: int) -> None:
        first, second = CUSTOMERS[:6], CUSTOMERS[6:]
        if number % 2:
            first, second = second, first
        grants = [grant(f"new-{one}-{number}", customer_id=one) for one in first]
        reversals = [reversal(f"old-{one}-{number}") for one in second]

        def work(books: Books) -> None:
            runs.append(number)
            books.ledger.lock(grants, reversals)
            books.ledger.grant_each_once(grants)
            books.ledger.reverse_each_once(reversals)

        store.run(work)

    in_threads(move)
    assert sorted(runs) == list(range(CROWD))
    assert sum(account(store, one).balance for one in CUSTOMERS) == 100 * len(old)


def grant_all_orders(transactions: PostgresTransactions, _: int) -> list[bool]:
    return [grant_each(transactions, grant(order_id)) == [True] for order_id in ORDERS]


def grant_in_opposite_orders(transactions: PostgresTransactions, number: int) -> list[bool]:
    return [all(grant_each(transactions, *grants)) for grants in grants_for_all(number)]


def grant_overlapping_sets(transactions: PostgresTransactions, number: int) -> list[bool]:
    order_ids = ORDERS if number % 2 else ORDERS[::-1]
    grants = [grant(order_id, customer_id=f"c-{order_id}") for order_id in order_ids]
    answers = grant_each(transactions, *grants)
    return [new for _, new in sorted(zip(order_ids, answers, strict=True))]


def test_of_eight_processes_one_grants_each_order(postgres_store: PostgresStore, processes: ProcessCrowd) -> None:
    """As threads do: Postgres decides, not this process."""
    answers = processes.run(grant_all_orders, postgres_store.database_url)
    assert [sum(votes) for votes in zip(*answers, strict=True)] == [1] * len(ORDERS)
    assert account(postgres_store).balance == 100 * len(ORDERS)


def test_of_eight_processes_with_equal_sets_each_grant_is_one_processs(
    postgres_store: PostgresStore, processes: ProcessCrowd
) -> None:
    """Sets that overlap whole, in opposite orders, are granted once between them."""
    answers = processes.run(grant_overlapping_sets, postgres_store.database_url)
    assert [sum(votes) for votes in zip(*answers, strict=True)] == [1] * len(ORDERS)


def test_processes_with_sets_in_opposite_order_all_succeed(
    postgres_store: PostgresStore, processes: ProcessCrowd
) -> None:
    """No deadlock is left unretried."""
    answers = processes.run(grant_in_opposite_orders, postgres_store.database_url)
    assert all(all(sets) for sets in answers)
    assert {account(postgres_store, customer_id).balance for customer_id in CUSTOMERS} == {CROWD * ROUNDS}
