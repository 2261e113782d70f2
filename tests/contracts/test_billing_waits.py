"""What billing and refunds answer while another transaction is still open: they wait for it and see what it did."""

from collections.abc import Callable
from datetime import date
from typing import TypeVar

import pytest

from application.billing import ImportItems, ImportSubscriptions
from application.payments import RequestRefund, TakeNotice
from domain.errors import Conflict, Malformed, Refused
from domain.money import Money
from domain.payments import REFUND, Notice, RefundState
from tests.contracts.billing import SEPTEMBER, bill, have, issue, item, lines, paid, subscription
from tests.contracts.stores import Books, PostgresStore
from tests.contracts.waiting import beside, second

T = TypeVar("T")


class Within:
    """A transaction that is open already, for use cases that would open their own."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def run(self, work: Callable[[Books], T]) -> T:
        return work(self._books)

    def assert_none_open(self) -> None:
        raise AssertionError("one is")


def issue_for(*customer_ids: str) -> Callable[[Books], list[str]]:
    return lambda books: issue(books, SEPTEMBER, customer_ids)


@pytest.mark.parametrize("first_commits", [True, False])
def test_a_run_waits_for_another_that_bills_the_same_customer(
    postgres_store: PostgresStore, *, first_commits: bool
) -> None:
    """It has nothing left to do, or does it itself; no number is lost either way."""
    have(postgres_store, subscription(), subscription("s-2", customer_id="c-2"))
    second(postgres_store, issue_for("c-1"), issue_for("c-2", "c-1"), first_commits=first_commits)
    numbers = {one: bill(postgres_store, one).number[-6:] for one in ("c-1", "c-2")}
    assert sorted(numbers.values()) == ["000001", "000002"]


def test_a_run_for_others_waits_for_the_numbers(postgres_store: PostgresStore) -> None:
    """They are given out in the order in which transactions end."""
    have(postgres_store, subscription(), subscription("s-2", customer_id="c-2"))
    (number,) = second(postgres_store, issue_for("c-1"), issue_for("c-2"), first_commits=False)
    assert number.endswith("-000001")


def test_a_preview_waits_for_nobody(postgres_store: PostgresStore) -> None:
    """It only looks."""
    have(postgres_store, subscription())
    known = beside(
        postgres_store, issue_for("c-1"), lambda books: len(books.bills.accounts(SEPTEMBER, ["c-1"], lock=False))
    )
    assert known == 1


def test_a_run_waits_for_what_is_being_added(postgres_store: PostgresStore) -> None:
    """An item on its way is on this bill or on the next, never on none."""
    have(postgres_store, subscription())

    def add(books: Books) -> None:
        books.customers.lock(["c-1"])
        books.plans.add_items([item()])

    second(postgres_store, add, issue_for("c-1"))
    assert ("i-1", date(2026, 9, 10), date(2026, 9, 10), 500) in lines(postgres_store, SEPTEMBER)


def test_a_change_of_an_end_waits_for_the_bill(postgres_store: PostgresStore) -> None:
    """It sees the days that are billed, and may not go before them."""
    have(postgres_store, subscription())
    row = {
        **{"subscription_id": "s-1", "customer_id": "c-1", "plan": "基本プラン", "price": 1000, "currency": "JPY"},
        **{"tax_rate": "10", "tax_included": False, "start": "2026-01-01", "end": "2026-09-29"},
    }

    (outcome,) = second(
        postgres_store,
        issue_for("c-1"),
        lambda books: ImportSubscriptions(Within(books)).execute([row]),
    )
    assert isinstance(outcome, Malformed)
    assert outcome.field == "end"


def test_of_two_files_with_one_id_the_second_is_in_conflict(postgres_store: PostgresStore) -> None:
    """Though they name two customers, and so wait for no lock of each other's."""
    row = {
        **{"item_id": "i-1", "date": "2026-09-10", "description": "設置費", "amount": 500, "currency": "JPY"},
        **{"tax_rate": "10", "tax_included": False},
    }
    (outcome,) = second(
        postgres_store,
        lambda books: ImportItems(Within(books)).execute([{**row, "customer_id": "c-1"}]),
        lambda books: ImportItems(Within(books)).execute([{**row, "customer_id": "c-2"}]),
    )
    assert isinstance(outcome, Conflict)


def ask(books: Books, refund_id: str, amount: int | None) -> object:
    return RequestRefund(Within(books)).execute(refund_id, "c-1", "2026-09", amount)


def test_a_refund_waits_for_the_one_that_is_being_asked_for(postgres_store: PostgresStore) -> None:
    """And finds 40 of a hundred left (trap 24)."""
    paid(postgres_store, 100)
    with pytest.raises(Refused, match="40 of 100 JPY remain"):
        second(postgres_store, lambda books: ask(books, "R1", 60), lambda books: ask(books, "R2", 60))


def test_a_refund_whose_rival_was_undone_is_made(postgres_store: PostgresStore) -> None:
    """Nothing went back."""
    paid(postgres_store, 100)
    second(postgres_store, lambda books: ask(books, "R1", 60), lambda books: ask(books, "R2", 60), first_commits=False)
    refunds = postgres_store.run(lambda books: books.refunds.of_charge("c-1", "2026-09"))
    assert [one.refund_id for one in refunds] == ["R2"]


def test_the_same_refund_at_the_same_moment_is_answered(postgres_store: PostgresStore) -> None:
    """Though nothing remains by then."""
    paid(postgres_store, 100)
    answers: list[object] = []
    again = second(
        postgres_store,
        lambda books: answers.append(ask(books, "R1", None)),
        lambda books: ask(books, "R1", None),
    )
    assert answers == [again]


def test_a_stored_refund_is_answered_at_once(postgres_store: PostgresStore) -> None:
    """Whoever decides about the rest of the charge meanwhile keeps nobody waiting."""
    paid(postgres_store, 100)
    first = postgres_store.run(lambda books: ask(books, "R1", 60))
    again = beside(postgres_store, lambda books: ask(books, "R2", 40), lambda books: ask(books, "R1", 60))
    assert again == first


def test_a_notice_waits_for_the_refund_that_is_being_asked_for(postgres_store: PostgresStore) -> None:
    """One made by hand meanwhile is counted beside it."""
    charge = paid(postgres_store, 5000)
    by_hand = Notice(REFUND, "re_9", None, charge, Money(500, "JPY"), RefundState.SUCCEEDED)
    second(
        postgres_store,
        lambda books: ask(books, "R1", 1000),
        lambda books: TakeNotice(Within(books)).execute(by_hand),
    )
    refunds = postgres_store.run(lambda books: books.refunds.of_charge("c-1", "2026-09"))
    assert [one.refund_id for one in refunds] == ["R1", "provider:re_9"]
