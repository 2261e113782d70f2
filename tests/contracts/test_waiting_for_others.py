"""What the books answer while another transaction is still open: they wait for it, or pass over what it holds."""

from collections.abc import Callable

import pytest

from domain.errors import Refused
from domain.operations import Registration, State, Step
from domain.orders.events import Arrival
from domain.orders.rules import Order
from domain.points import MAX_POINTS, EntryKind
from tests.contracts.accounts import account, bring_into_debt, grant_each, open_lots
from tests.contracts.samples import confirmed, grant, parcel, reversal
from tests.contracts.stores import Books, PostgresStore
from tests.contracts.waiting import beside, second
from tests.contracts.work import LEASE_SECONDS, claim, claim_one, needing_confirmation, now, register, send_one


@pytest.mark.parametrize("first_commits", [True, False])
def test_a_grant_waits_for_the_one_that_is_being_made(postgres_store: PostgresStore, *, first_commits: bool) -> None:
    """It says no if that one is kept, and does it itself if not."""
    answer = second(
        postgres_store,
        lambda books: books.ledger.grant_once(grant("o-1")),
        lambda books: books.ledger.grant_once(grant("o-1")),
        first_commits=first_commits,
    )
    assert answer is not first_commits
    assert len(postgres_store.run(lambda books: list(books.ledger.history("c-1")))) == 1


def test_a_grant_waits_for_the_balance_and_finds_it_full(postgres_store: PostgresStore) -> None:
    """Two grants at once never overflow a balance that each of them alone would not."""
    with pytest.raises(Refused, match="would exceed"):
        second(
            postgres_store,
            lambda books: books.ledger.grant_once(grant("o-1", MAX_POINTS)),
            lambda books: books.ledger.grant_once(grant("o-2", 1)),
        )


def test_two_grants_at_once_repay_a_debt_once(postgres_store: PostgresStore) -> None:
    """The second sees what the first has repaid."""
    bring_into_debt(postgres_store, 60)
    second(
        postgres_store,
        lambda books: books.ledger.grant_once(grant("o-1", 50)),
        lambda books: books.ledger.grant_once(grant("o-2", 50)),
    )
    assert (account(postgres_store).balance, open_lots(postgres_store)) == (40, {"o-2": 40})


@pytest.mark.parametrize(("order_id", "taken", "left"), [("o-1", 0, 50), ("o-2", 100, -50)])
def test_a_reversal_waits_for_the_one_that_is_being_made(
    postgres_store: PostgresStore, order_id: str, taken: int, left: int
) -> None:
    """Of the same grant, it takes nothing; of another, it takes what the other's has left of the lots."""
    grant_each(postgres_store, grant("o-1"), grant("o-2"), grant("o-3", 150))
    for spent in ("o-1", "o-2"):
        postgres_store.lower(EntryKind.REDEEM, "c-1", spent, 100)
    answer = second(
        postgres_store,
        lambda books: books.ledger.reverse_each_once([reversal("o-1")]),
        lambda books: list(books.ledger.reverse_each_once([reversal(order_id)])),
    )
    assert (answer, account(postgres_store).balance) == ([taken], left)


@pytest.mark.parametrize(("total", "known"), [(12000, Arrival.DUPLICATE), (1, Arrival.CONFLICT)])
@pytest.mark.parametrize("first_commits", [True, False])
def test_a_delivery_waits_for_the_one_that_is_being_stored(
    postgres_store: PostgresStore, total: int, known: Arrival, *, first_commits: bool
) -> None:
    """It sees what the other stored, although it began before that was there."""
    answer = second(
        postgres_store,
        lambda books: books.inbox.store_each([confirmed("e-1")]),
        lambda books: list(books.inbox.store_each([confirmed("e-0"), confirmed("e-1", total=total)])),
        first_commits=first_commits,
    )
    assert answer == [Arrival.NEW, known if first_commits else Arrival.NEW]


@pytest.mark.parametrize(("name", "known"), [("first", Registration.KNOWN), ("other", Registration.CONFLICT)])
@pytest.mark.parametrize("first_commits", [True, False])
def test_a_registration_waits_for_the_one_that_is_being_made(
    postgres_store: PostgresStore, name: str, known: Registration, *, first_commits: bool
) -> None:
    """It sees what the other registered, although it began before that was there."""
    answer = second(
        postgres_store,
        lambda books: books.operations.register_each([parcel("o-1", name="first")]),
        lambda books: list(books.operations.register_each([parcel("o-0"), parcel("o-1", name=name)])),
        first_commits=first_commits,
    )
    assert answer == [Registration.NEW, known if first_commits else Registration.NEW]


@pytest.mark.parametrize("first_commits", [True, False])
def test_who_stores_an_order_waits_for_the_one_that_is_storing_it(
    postgres_store: PostgresStore, *, first_commits: bool
) -> None:
    """It starts again and finds the other's, or stores its own."""

    def store_as(customer_id: str) -> Callable[[Books], Order]:
        def work(books: Books) -> Order:
            known = books.orders.lock(["o-1"]).get("o-1")
            if known is None:
                books.orders.add([known := Order("o-1", customer_id=customer_id)])
            return known

        return work

    answer = second(postgres_store, store_as("c-first"), store_as("c-second"), first_commits=first_commits)
    assert answer.customer_id == ("c-first" if first_commits else "c-second")


def test_a_cancel_waits_for_the_gate_and_sees_the_send(postgres_store: PostgresStore) -> None:
    """What has just passed the gate must be undone, not withdrawn."""
    claimed = claim_one(postgres_store)
    undone = second(
        postgres_store,
        lambda books: books.operations.gate_each([claimed], outlasting_seconds=11, sent_to="us"),
        lambda books: list(books.operations.withdraw_unsent([claimed.key], "cancelled")),
    )
    assert (undone, now(postgres_store, claimed.key).state) == ([claimed.key], State.PROCESSING)


def test_the_gate_waits_for_a_cancel_and_stays_closed(postgres_store: PostgresStore) -> None:
    """What has just been withdrawn is not sent."""
    claimed = claim_one(postgres_store)
    gated = second(
        postgres_store,
        lambda books: books.operations.withdraw_unsent([claimed.key], "cancelled"),
        lambda books: list(books.operations.gate_each([claimed], outlasting_seconds=11, sent_to="us")),
    )
    assert (gated, now(postgres_store, claimed.key).state) == ([], State.REFUSED)


def test_of_two_operators_the_second_sees_what_the_first_decided(postgres_store: PostgresStore) -> None:
    """A locked look waits for the decision that is being made."""
    key = needing_confirmation(postgres_store).key

    def decide(books: Books) -> State:
        operation = books.operations.get(key, lock=True)
        assert operation is not None
        if operation.state is State.NEEDS_CONFIRMATION:
            books.operations.decide(key, operation.state, Step(State.COMPLETED), by="花子", evidence="phone call")
        return operation.state

    assert second(postgres_store, decide, decide) is State.COMPLETED


def test_events_taken_elsewhere_are_passed_over(postgres_store: PostgresStore) -> None:
    """Also when they are asked for by name; nobody waits."""
    events = [confirmed(f"e-{number}", order_id=f"o-{number}") for number in range(5)]
    postgres_store.run(lambda books: books.inbox.store_each(events))
    seqs = [stored.seq for stored in postgres_store.run(lambda books: books.inbox.take(10))]
    left = beside(
        postgres_store, lambda books: books.inbox.take(2), lambda books: [s.seq for s in books.inbox.take(10)]
    )
    named = beside(
        postgres_store, lambda books: books.inbox.take(2), lambda books: [s.seq for s in books.inbox.take_these(seqs)]
    )
    assert left == named == seqs[2:]


def test_an_event_waits_for_an_earlier_one_of_its_order(postgres_store: PostgresStore) -> None:
    """A file's cancel must not overtake its confirmation because two workers took one each."""
    events = [confirmed("e-1", order_id="o-1"), confirmed("e-2", order_id="o-1"), confirmed("e-3", order_id="o-2")]
    postgres_store.run(lambda books: books.inbox.store_each(events))
    left = beside(
        postgres_store, lambda books: books.inbox.take(1), lambda books: [s.event.id for s in books.inbox.take(10)]
    )
    assert left == ["e-3"]


def test_work_being_claimed_elsewhere_is_passed_over(postgres_store: PostgresStore) -> None:
    """A claim that has not ended keeps nobody waiting."""
    register(postgres_store, *(parcel(f"o-{number}") for number in range(5)))

    def claim_two(worker: str) -> Callable[[Books], set[str]]:
        return lambda books: {
            operation.key
            for operation in books.operations.claim(
                "shipment-request", 2, lease_seconds=30, worker=worker, max_attempts=10
            )
        }

    second_claim = beside(postgres_store, claim_two("w/1"), claim_two("w/2"))
    assert len(second_claim) == 2
    assert len(claim(postgres_store, "w/3")) == 1


def test_leases_being_settled_elsewhere_are_passed_over(postgres_store: PostgresStore) -> None:
    """Two sweepers, or a sweeper and a late worker, do not wait for each other."""
    for number in range(3):
        send_one(postgres_store, order_id=f"o-{number}")
    postgres_store.pass_time(LEASE_SECONDS + 1)
    left = beside(
        postgres_store,
        lambda books: books.operations.expired(2),
        lambda books: [operation.subject for operation in books.operations.expired(10)],
    )
    assert left == ["o-2"]
