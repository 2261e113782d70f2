"""`BillBook`: what became of a month's bills."""

import pytest

from domain.billing.bills import UNTAXED
from domain.billing.book import MonthTally
from domain.money import MAX_AMOUNT, Money
from domain.operations import State, Step
from domain.payments import CHARGE, ChargeRequest
from tests.contracts.billing import (
    OCTOBER,
    SEPTEMBER,
    bill,
    end_operation,
    have,
    issue_all,
    item,
    subscription,
)
from tests.contracts.stores import Books, Store
from tests.contracts.work import LEASE_SECONDS, MAX_ATTEMPTS

# What became of each customer's charge, by customer; two needed none.
ENDS = {
    "c-completed": State.COMPLETED,
    "c-refused": State.REFUSED,
    "c-unknown": State.NEEDS_CONFIRMATION,
    "c-parked": State.PARKED,
    "c-ready": State.READY,
}
WITHOUT_CHARGE = {"c-nothing": 0, "c-carried": 40}


def month_of_all_kinds(store: Store) -> None:
    """One bill of each kind, and one whose charge is on its way."""
    charged = [*ENDS, "c-processing"]
    have(store, *(subscription(f"s of {one}", customer_id=one) for one in charged))
    have(store, *(item(f"i of {one}", customer_id=one, amount=amount) for one, amount in WITHOUT_CHARGE.items()))
    issue_all(store, SEPTEMBER, *charged, *WITHOUT_CHARGE)
    for customer_id, state in ENDS.items():
        end_operation(store, f"billing:{customer_id}:2026-09", Step(state, "because", wait_seconds=600))
    claim(store, "c-processing")


def claim(store: Store, customer_id: str) -> None:
    """Somebody works on this customer's charge."""
    claimed = store.run(
        lambda books: books.operations.claim(
            CHARGE,
            1,
            lease_seconds=LEASE_SECONDS,
            worker="w",
            max_attempts=MAX_ATTEMPTS,
            key=f"billing:{customer_id}:2026-09",
        )
    )
    assert len(claimed) == 1


def test_a_tally_counts_bills_by_what_became_of_them(store: Store) -> None:
    """Each once; what is to be charged is added up, whatever became of it."""
    month_of_all_kinds(store)
    expected = MonthTally(
        bills=8,
        charged=1,
        declined=1,
        needs_confirmation=1,
        parked=1,
        open=2,
        nothing=1,
        carried=1,
        totals={"JPY": 6 * 1100},
    )
    assert store.run(lambda books: books.bills.tally(SEPTEMBER)) == expected
    assert store.run(lambda books: books.bills.tally(OCTOBER)) == MonthTally()


def test_totals_are_added_up_by_currency(store: Store) -> None:
    """Never across currencies."""
    have(store, subscription("s-1"), subscription("s-2", customer_id="c-2", currency="USD", price=2000))
    issue_all(store, SEPTEMBER, "c-1", "c-2")
    assert dict(store.run(lambda books: books.bills.tally(SEPTEMBER)).totals) == {"JPY": 1100, "USD": 2200}


def test_every_bill_is_among_the_totals_once(store: Store) -> None:
    """In sets, in the order of the customers, those without a charge included."""
    month_of_all_kinds(store)

    def read(books: Books) -> list[tuple[str, int, str]]:
        first = list(books.bills.totals(SEPTEMBER, after="", limit=5))
        return first + list(books.bills.totals(SEPTEMBER, after=first[-1][0], limit=5))

    found = store.run(read)
    assert [customer_id for customer_id, _, _ in found] == sorted({*ENDS, *WITHOUT_CHARGE, "c-processing"})
    assert {one: amount for one, amount, _ in found if one in WITHOUT_CHARGE} == {"c-nothing": 0, "c-carried": 44}
    assert {currency for _, _, currency in found} == {"JPY"}


def test_bills_that_somebody_must_look_at_are_named(store: Store) -> None:
    """Refused, parked, put off, or waiting for a person; up to a limit, in the order of the customers."""
    month_of_all_kinds(store)
    found = store.run(lambda books: books.bills.waiting(SEPTEMBER, 10))
    assert [one.customer_id for one in found] == ["c-parked", "c-ready", "c-refused", "c-unknown"]
    assert all(one.operation is not None and one.operation.reason == "because" for one in found)
    assert [one.customer_id for one in store.run(lambda books: books.bills.waiting(SEPTEMBER, 1))] == ["c-parked"]


def test_a_new_attempt_takes_the_place_of_the_declined_one(store: Store) -> None:
    """The bill is counted by its newest charge alone."""
    have(store, subscription())
    issue_all(store)
    end_operation(store, "billing:c-1:2026-09", Step(State.REFUSED, "card_declined"))

    def try_again(books: Books) -> None:
        again = ChargeRequest("c-1", "2026-09", 2, Money(1100, "JPY"), "?", "pm_2", None, "pi_1")
        books.operations.register_each([again.as_operation()])
        books.bills.note_attempt("c-1", SEPTEMBER, 2, again.key)

    store.run(try_again)
    stored = bill(store)
    assert stored.operation is not None
    assert (stored.attempt, stored.operation.key) == (2, "billing:c-1:2026-09:2")
    assert store.run(lambda books: books.bills.tally(SEPTEMBER)) == MonthTally(1, open=1, totals={"JPY": 1100})
    assert store.run(lambda books: books.bills.waiting(SEPTEMBER, 10)) == [stored]


def is_charging(store: Store, within_seconds: float = 5) -> bool:
    return store.run(lambda books: books.bills.is_charging(SEPTEMBER, within_seconds))


def test_a_month_is_being_charged_while_a_charge_is_due(store: Store) -> None:
    """Of that month: what another one owes does not count."""
    have(store, subscription())
    issue_all(store, OCTOBER)
    assert not is_charging(store)
    issue_all(store)
    assert is_charging(store)


def test_a_month_is_being_charged_while_a_charge_is_under_way(store: Store) -> None:
    """Until its lease is over, and after."""
    have(store, subscription())
    issue_all(store)
    claim(store, "c-1")
    assert is_charging(store)
    store.pass_time(LEASE_SECONDS + 1)
    assert is_charging(store)


def test_a_charge_that_is_due_later_is_not_waited_for(store: Store) -> None:
    """Only one that is due soon."""
    have(store, subscription())
    issue_all(store)
    end_operation(store, "billing:c-1:2026-09", Step(State.READY, "503", wait_seconds=60))
    assert (is_charging(store, 5), is_charging(store, 61)) == (False, True)


@pytest.mark.parametrize("state", [one for one in State if one not in (State.READY, State.PROCESSING)])
def test_a_charge_that_ended_is_not_waited_for(store: Store, state: State) -> None:
    """Done, refused, parked, or for a person to decide."""
    have(store, subscription())
    issue_all(store)
    end_operation(store, "billing:c-1:2026-09", Step(state, "because"))
    assert not is_charging(store)


def test_bills_without_a_charge_are_not_waited_for(store: Store) -> None:
    """There is nothing to wait for."""
    have(store, item(amount=0))
    issue_all(store)
    assert not is_charging(store)


def test_totals_may_have_more_than_64_bits(store: Store) -> None:
    """Together; each bill alone has not."""
    for number in (1, 2):
        have(store, subscription(f"s-{number}", customer_id=f"c-{number}", price=MAX_AMOUNT, tax=UNTAXED))
    issue_all(store, SEPTEMBER, "c-1", "c-2")
    assert store.run(lambda books: books.bills.tally(SEPTEMBER)).totals == {"JPY": 2 * MAX_AMOUNT}
