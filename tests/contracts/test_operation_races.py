"""`OperationBook` when many register, claim and withdraw at once, in threads and in processes."""

import itertools
from collections import Counter

from adapters.postgres.transactions import PostgresTransactions
from domain.operations import Operation, Registration, State, Step
from tests.contracts.crowds import CROWD, ProcessCrowd, in_threads
from tests.contracts.samples import parcel
from tests.contracts.stores import PostgresStore, Runner, Store
from tests.contracts.work import claim, claim_one, found, gate, now, register, send_one, settle

ORDERS = [f"o-{number:03}" for number in range(200)]
NEW, KNOWN, CONFLICT = Registration.NEW, Registration.KNOWN, Registration.CONFLICT


def test_of_many_who_register_the_same_one_is_first(store: Store) -> None:
    """The others learn that it was known."""
    answers = in_threads(lambda _: register(store, parcel("o-1"), parcel("o-2")))
    assert Counter(answer for answer, _ in answers) == {NEW: 1, KNOWN: CROWD - 1}
    assert len(found(store)) == 2


def test_of_many_who_register_contradictions_one_is_first(store: Store) -> None:
    """The others learn that it was another."""
    answers = in_threads(lambda number: register(store, parcel("o-1", name=f"name {number}")))
    assert Counter(answer for (answer,) in answers) == {NEW: 1, CONFLICT: CROWD - 1}
    first = answers.index([NEW])
    assert now(store, parcel("o-1").key).content["ship_to"]["name"] == f"name {first}"


def claim_until_none_is_left(store: Runner, number: int) -> list[str]:
    mine: list[str] = []
    for turn in itertools.count():
        claimed = claim(store, f"w{number}/{turn}", limit=7)
        if not claimed:
            break
        mine += [operation.subject for operation in claimed]
    return mine


def test_workers_never_hold_the_same_work(store: Store) -> None:
    """Eight workers share two hundred operations out among them."""
    register(store, *(parcel(order_id) for order_id in ORDERS))

    shares = in_threads(lambda number: claim_until_none_is_left(store, number))
    assert sorted(order_id for share in shares for order_id in share) == ORDERS


def test_a_cancel_and_a_gate_at_once_agree(store: Store) -> None:
    """Either it was withdrawn and nothing is sent, or it is sent and must be undone: never both, never neither."""

    def race(claimed: Operation) -> tuple[int, int]:
        def side(number: int) -> int:
            if number:
                return len(gate(store, claimed))
            return len(store.run(lambda books: books.operations.withdraw_unsent([claimed.key], "cancelled")))

        undone, gated = in_threads(side, 2)
        return undone, gated

    for number in range(15):
        claimed = claim_one(store, order_id=f"o-{number}")
        undone, gated = race(claimed)
        assert undone == gated
        assert now(store, claimed.key).state is (State.PROCESSING if gated else State.REFUSED)


def test_of_a_late_worker_and_the_sweep_one_writes(store: Store) -> None:
    """Whoever is first settles the attempt; the other writes nothing."""
    steps = [Step(State.COMPLETED, "in time", {"reference": "SH-1"}), Step(State.NEEDS_CONFIRMATION, "swept")]

    def race(sent: Operation) -> list[list[str]]:
        return in_threads(lambda side: settle(store, sent, steps[side]), 2)

    for number in range(10):
        sent = send_one(store, order_id=f"o-{number}")
        written = race(sent)
        winner = written.index([sent.key])
        assert written[1 - winner] == []
        assert now(store, sent.key).reason == steps[winner].reason


def register_all(transactions: PostgresTransactions, number: int) -> list[Registration]:
    order_ids = ORDERS if number % 2 else ORDERS[::-1]
    parcels = [parcel(order_id) for order_id in order_ids]
    answers = register(transactions, *parcels)
    return [answer for _, answer in sorted(zip(order_ids, answers, strict=True))]


def test_processes_never_hold_the_same_work(postgres_store: PostgresStore, processes: ProcessCrowd) -> None:
    """As threads do: Postgres decides, not this process."""
    register(postgres_store, *(parcel(order_id) for order_id in ORDERS))
    shares = processes.run(claim_until_none_is_left, postgres_store.database_url)
    assert sorted(order_id for share in shares for order_id in share) == ORDERS


def test_of_eight_processes_one_registers_each_operation(
    postgres_store: PostgresStore, processes: ProcessCrowd
) -> None:
    """Equal sets in opposite orders, with no deadlock left unretried."""
    answers = processes.run(register_all, postgres_store.database_url)
    for votes in zip(*answers, strict=True):
        assert Counter(votes) == {NEW: 1, KNOWN: CROWD - 1}
