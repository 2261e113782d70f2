"""Subscriptions and items from a file: the good rows are stored, the others named."""

from typing import Any

import pytest

from application.billing import Taken
from application.billing.imports import Outcome
from domain.errors import Conflict, Malformed
from tests.application.killed import at_unit
from tests.application.office import MONTH, Office

ROW: dict[str, Any] = {
    **{"subscription_id": "s-1", "customer_id": "c-1", "plan": "基本プラン", "price": 1000, "currency": "JPY"},
    **{"tax_rate": "10", "tax_included": "true", "start": "2026-01-01", "end": ""},
}
ITEM: dict[str, Any] = {
    **{"item_id": "i-1", "customer_id": "c-1", "date": "2026-09-10", "description": "設置費", "amount": 500},
    **{"currency": "JPY", "tax_rate": "10", "tax_included": "false"},
}


def told(outcomes: list[Outcome]) -> list[str]:
    """What became of each row, in one word or the name of the field."""
    return [
        one.field if isinstance(one, Malformed) else "conflict" if isinstance(one, Conflict) else str(one)
        for one in outcomes
    ]


def test_the_same_file_again_changes_nothing(office: Office) -> None:
    """Row by row a duplicate (B57)."""
    rows = [{**ROW, "subscription_id": f"s-{number}"} for number in range(3)]
    assert told(office.subscriptions.execute(rows)) == ["accepted"] * 3
    assert told(office.subscriptions.execute(rows)) == ["duplicate"] * 3
    assert told(office.items.execute([ITEM, ITEM])) == ["accepted", "duplicate"]
    assert told(office.items.execute([ITEM])) == ["duplicate"]


def test_a_customer_nobody_has_heard_of_is_made(office: Office) -> None:
    """Known by id alone, and billed when a payment method is told."""
    office.subscriptions.execute([ROW])
    assert office.customer("c-1").payment_method is None


WRONG: list[tuple[str, object]] = [
    *(("subscription_id", ""), ("customer_id", None), ("plan", ""), ("price", "1000"), ("price", -1)),
    *(("currency", "YEN"), ("tax_rate", "-1"), ("tax_rate", 8.25), ("tax_rate", "100.01"), ("tax_included", "maybe")),
    *(("start", "2026-02-30"), ("start", None), ("end", "2025-12-31"), ("end", "soon")),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_a_bad_row_is_named_and_the_others_are_stored(office: Office, field: str, value: object) -> None:
    """By the field that is wrong."""
    rows = [{**ROW, "subscription_id": "s-0"}, {**ROW, field: value}, {**ROW, "subscription_id": "s-2"}]
    assert told(office.subscriptions.execute(rows)) == ["accepted", field, "accepted"]
    assert sorted(office.books.plans.known) == ["s-0", "s-2"]


@pytest.mark.parametrize(
    ("field", "value"), [("amount", "5"), ("amount", 2**63), ("date", "2026-9-1"), ("item_id", 1.5)]
)
def test_a_bad_item_is_named_and_the_others_are_stored(office: Office, field: str, value: object) -> None:
    """By the field that is wrong."""
    rows = [{**ITEM, "item_id": "i-0"}, {**ITEM, field: value}]
    assert told(office.items.execute(rows)) == ["accepted", field]
    assert list(office.books.plans.known_items) == ["i-0"]


def test_a_row_that_could_not_be_read_is_told_as_it_is(office: Office) -> None:
    """In its place."""
    unread = Malformed("line", "has too many columns")
    assert office.subscriptions.execute([unread, ROW]) == [unread, Taken.ACCEPTED]
    assert office.items.execute([ITEM, unread]) == [Taken.ACCEPTED, unread]


OTHERS: list[tuple[str, object]] = [
    *(("price", 1001), ("plan", "other"), ("customer_id", "c-2"), ("start", "2026-01-02")),
    *(("tax_rate", "8"), ("tax_included", "false")),
]


@pytest.mark.parametrize(("column", "value"), OTHERS)
def test_of_a_known_subscription_nothing_but_the_end_may_change(office: Office, column: str, value: object) -> None:
    """Anything else is a conflict, and the first stays."""
    office.subscriptions.execute([ROW])
    before = office.books.plans.known["s-1"]
    assert told(office.subscriptions.execute([{**ROW, "end": "2026-12-31", column: value}])) == ["conflict"]
    assert office.books.plans.known["s-1"] == before


def test_of_a_known_item_nothing_may_change(office: Office) -> None:
    """Not within a file either."""
    rows = [ITEM, {**ITEM, "amount": 501}]
    assert told(office.items.execute(rows)) == ["accepted", "conflict"]
    assert office.books.plans.known_items["i-1"].price.amount == 500


@pytest.mark.parametrize(("end", "outcome"), [("2026-09-29", "end"), ("2026-09-30", "accepted"), ("", "duplicate")])
def test_an_end_is_never_before_a_billed_day(office: Office, end: str, outcome: str) -> None:
    """What is on a bill stays there."""
    office.have()
    office.subscriptions.execute([ROW])
    office.billing.run(MONTH)
    assert told(office.subscriptions.execute([{**ROW, "end": end}])) == [outcome]


def test_the_last_row_of_a_subscription_in_a_file_counts(office: Office) -> None:
    """Row after row, as if each were a file."""
    rows = [{**ROW, "end": end} for end in ("2026-10-31", "", "2026-12-31", "2026-12-31")]
    assert told(office.subscriptions.execute(rows)) == ["accepted", "accepted", "accepted", "duplicate"]
    assert str(office.books.plans.known["s-1"].end) == "2026-12-31"


def test_a_second_currency_cannot_be_imported(office: Office) -> None:
    """Not beside a subscription, not beside an item, not within one file; other customers are free."""
    dollars = {**ROW, "subscription_id": "s-2", "currency": "USD"}
    assert told(office.subscriptions.execute([ROW, dollars, {**dollars, "customer_id": "c-2"}])) == [
        *("accepted", "currency", "accepted"),
    ]
    assert told(office.items.execute([{**ITEM, "currency": "USD"}, {**ITEM, "customer_id": "c-3"}])) == [
        *("currency", "accepted"),
    ]
    other = {**ROW, "subscription_id": "s-3", "customer_id": "c-3", "currency": "USD"}
    assert told(office.subscriptions.execute([other])) == ["currency"]


def test_a_row_that_is_refused_decides_no_currency(office: Office) -> None:
    """The first price that is stored does."""
    bad = {**ROW, "currency": "USD", "price": -1}
    assert told(office.subscriptions.execute([bad, ROW])) == ["price", "accepted"]


def test_a_credit_is_an_item_of_less_than_nothing(office: Office) -> None:
    """Of any size that can be stored."""
    assert told(office.items.execute([{**ITEM, "amount": -(2**63 - 1)}])) == ["accepted"]


def test_an_import_whose_commit_is_in_doubt_is_stored_once(office: Office) -> None:
    """Its rows are known when the unit runs again; none contradicts itself."""
    with at_unit(office, 1, office.transactions.lose_next_answer):
        outcomes = told(office.subscriptions.execute([ROW, {**ROW, "end": "2026-12-31"}]))
    assert set(outcomes) <= {"accepted", "duplicate"}
    assert str(office.books.plans.known["s-1"].end) == "2026-12-31"


def test_nothing_to_import_is_no_work(office: Office) -> None:
    """An empty file."""
    assert (office.subscriptions.execute([]), office.items.execute([])) == ([], [])
