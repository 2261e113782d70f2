"""`PointLedger`: taking grants back."""

from datetime import date

import pytest

from domain.points import EntryKind
from tests.contracts.accounts import account, bring_into_debt, grant_each, open_lots, reverse_each
from tests.contracts.samples import grant, reversal
from tests.contracts.stores import Store

SOON, LATER, LAST = date(2027, 1, 31), date(2027, 2, 28), date(2027, 3, 31)


def test_a_grant_is_taken_back_from_its_own_lot(store: Store) -> None:
    """What ends sooner stays untouched while the order's own points are still there."""
    grant_each(store, grant("o-1", 100, until=LATER), grant("o-2", 50, until=SOON))
    assert reverse_each(store, reversal("o-1")) == [100]
    assert (account(store).balance, open_lots(store)) == (50, {"o-2": 50})


def test_what_was_spent_of_it_is_taken_from_other_lots_as_spending_would(store: Store) -> None:
    """After its own lot, the lot that ends first pays, then the next."""
    grant_each(store, grant("o-1", 100), grant("o-2", 30, until=LAST), grant("o-3", 30, until=SOON))
    grant_each(store, grant("o-4", 30, until=LATER))
    store.lower(EntryKind.REDEEM, "c-1", "o-1", 60)
    assert reverse_each(store, reversal("o-1")) == [100]
    assert (account(store).balance, open_lots(store)) == (30, {"o-2": 30})


def test_among_lots_that_end_together_the_oldest_pays(store: Store) -> None:
    """Spending order is by end, then by age."""
    for order_id in ("o-1", "o-9", "o-2"):
        grant_each(store, grant(order_id, 30))
        store.pass_time(1)
    store.lower(EntryKind.REDEEM, "c-1", "o-1", 30)
    reverse_each(store, reversal("o-1"))
    assert open_lots(store) == {"o-2": 30}


def test_what_no_lot_can_pay_becomes_debt(store: Store) -> None:
    """The balance goes below zero and no lot is open."""
    grant_each(store, grant("o-1", 100), grant("o-2", 30))
    store.lower(EntryKind.REDEEM, "c-1", "o-1", 80)
    assert reverse_each(store, reversal("o-1")) == [100]
    assert (account(store).balance, account(store).debt, open_lots(store)) == (-50, 50, {})


def test_debt_grows_with_the_next_reversal(store: Store) -> None:
    """Two orders whose points are spent leave the sum of both."""
    bring_into_debt(store, 60)
    grant_each(store, grant("o-1", 100))
    store.lower(EntryKind.REDEEM, "c-1", "o-1", 40)
    assert reverse_each(store, reversal("o-1")) == [100]
    assert account(store).balance == -100


def test_a_reversal_happens_once_per_cause(store: Store) -> None:
    """The same cancellation told again takes nothing more."""
    grant_each(store, grant("o-1", 100))
    assert [reverse_each(store, reversal("o-1")) for _ in range(3)] == [[100], [0], [0]]
    assert account(store).balance == 0


def test_a_reversal_named_twice_in_one_call_happens_once(store: Store) -> None:
    """Answers stand in the order of the reversals, and only the first of equal ones takes anything."""
    grant_each(store, grant("o-1", 100), grant("o-2", 7))
    assert reverse_each(store, reversal("o-2"), reversal("o-1"), reversal("o-2"), reversal("o-1")) == [7, 100, 0, 0]
    assert account(store).balance == 0


def test_another_cause_finds_nothing_left(store: Store) -> None:
    """A second cancellation of the same grant cannot take it a second time."""
    grant_each(store, grant("o-1", 100))
    assert reverse_each(store, reversal("o-1", cause="cancelled#2"), reversal("o-1", cause="cancelled#4")) == [100, 0]
    assert account(store).balance == 0


def test_expired_points_are_not_taken_back_again(store: Store) -> None:
    """What is left to reverse is the grant without what has been reversed or has expired."""
    grant_each(store, grant("o-1", 100), grant("o-2", 50))
    store.lower(EntryKind.EXPIRE, "c-1", "o-1", 30)
    assert reverse_each(store, reversal("o-1")) == [70]
    assert (account(store).balance, open_lots(store)) == (50, {"o-2": 50})


def test_a_grant_that_expired_whole_leaves_nothing_to_reverse(store: Store) -> None:
    """No line is posted for nothing."""
    grant_each(store, grant("o-1", 100))
    store.lower(EntryKind.EXPIRE, "c-1", "o-1", 100)
    assert reverse_each(store, reversal("o-1")) == [0]
    assert len(store.run(lambda books: list(books.ledger.history("c-1")))) == 2


def test_an_unknown_grant_takes_nothing(store: Store) -> None:
    """Neither an order without a grant nor a customer without points is an error."""
    grant_each(store, grant("o-1", 100))
    assert reverse_each(store, reversal("o-404"), reversal("o-405")) == [0, 0]
    assert account(store).balance == 100


def test_another_reason_of_the_order_stays(store: Store) -> None:
    """A cancelled order gives back what it earned, not what was given for another reason."""
    grant_each(store, grant("o-1", 100), grant("o-1", 30, reason="apology"))
    reverse_each(store, reversal("o-1"))
    assert account(store).balance == 30


def test_a_grant_that_comes_after_its_reversal_found_nothing_can_be_reversed(store: Store) -> None:
    """A cause that took nothing has not been used up."""
    assert reverse_each(store, reversal("o-1")) == [0]
    grant_each(store, grant("o-1", 100))
    assert reverse_each(store, reversal("o-1")) == [100]


def test_a_grant_that_was_taken_back_is_not_given_again(store: Store) -> None:
    """The fact stays known for ever: granting it once more says no."""
    grant_each(store, grant("o-1", 100))
    reverse_each(store, reversal("o-1"))
    assert grant_each(store, grant("o-1", 100)) == [False]
    assert account(store).balance == 0


def test_a_reversal_stands_in_the_history(store: Store) -> None:
    """One line, however many lots paid for it, under the order and reason it reverses."""
    grant_each(store, grant("o-1", 100), grant("o-2", 80))
    store.lower(EntryKind.REDEEM, "c-1", "o-1", 50)
    reverse_each(store, reversal("o-1"))
    last = store.run(lambda books: list(books.ledger.history("c-1")))[-1]
    assert (last.kind, last.points, last.balance_after) == (EntryKind.REVERSE, -100, 30)
    assert (last.order_id, last.reason) == ("o-1", "order_confirmed")


def test_reversals_of_many_customers_stay_apart(store: Store) -> None:
    """Each customer's lots pay only for that customer."""
    grant_each(store, grant("o-1", 100), grant("o-2", 40, customer_id="c-2"), grant("o-3", 9, customer_id="c-2"))
    store.lower(EntryKind.REDEEM, "c-2", "o-2", 40)
    assert reverse_each(store, reversal("o-2")) == [40]
    assert (account(store).balance, account(store, "c-2").balance) == (100, -31)


@pytest.mark.parametrize("rich", [True, False], ids=["who has points", "who has none"])
def test_a_grant_is_taken_back_from_whoever_was_granted(store: Store, *, rich: bool) -> None:
    """Whomever the reversal names: nobody's points pay for another customer's grant."""
    grant_each(store, grant("o-1", 100))
    if rich:
        grant_each(store, grant("o-2", 500, customer_id="c-2"))
    assert reverse_each(store, reversal("o-1")) == [100]
    assert (account(store, "c-1").balance, account(store, "c-2").balance) == (0, 500 if rich else 0)


def test_no_reversals_are_no_work(store: Store) -> None:
    """An empty set has no answers."""
    assert reverse_each(store) == []
