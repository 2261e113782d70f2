"""`PointLedger`: grants, accounts and histories."""

from datetime import date, timedelta

import pytest

from domain.errors import Refused
from domain.points import MAX_POINTS, EntryKind, PointAccount, PointGrant
from tests.contracts.accounts import account, bring_into_debt, grant_each, open_lots
from tests.contracts.samples import grant
from tests.contracts.stores import Store


def test_points_are_granted_once(store: Store) -> None:
    """The second call for the same order and reason says no and gives nothing."""
    answers = [store.run(lambda books: books.ledger.grant_once(grant("o-1", 100))) for _ in range(3)]
    assert answers == [True, False, False]
    assert account(store).balance == 100


def test_the_first_grant_of_a_fact_stays(store: Store) -> None:
    """Other points for the same order and reason do not replace the first ones."""
    grant_each(store, grant("o-1", 100))
    assert grant_each(store, grant("o-1", 250)) == [False]
    assert account(store).balance == 100


def test_another_reason_is_another_fact(store: Store) -> None:
    """One order may earn for several reasons, each once."""
    facts = [grant("o-1", 100), grant("o-1", 30, reason="apology"), grant("o-1", 30, reason="apology")]
    assert grant_each(store, *facts) == [True, True, False]
    assert account(store).balance == 130


def test_answers_stand_in_the_order_of_the_grants(store: Store) -> None:
    """New and repeated grants of several customers, mixed, each get their own answer."""
    grant_each(store, grant("o-5"), grant("o-2", customer_id="c-2"))
    mixed = [
        grant("o-9", customer_id="c-2"),
        grant("o-5"),
        grant("o-1"),
        grant("o-2", customer_id="c-2"),
        grant("o-0", customer_id="c-2"),
    ]
    assert grant_each(store, *mixed) == [True, False, True, False, True]
    assert (account(store).balance, account(store, "c-2").balance) == (200, 300)


@pytest.mark.parametrize("copies", [2, 5])
def test_a_grant_repeated_inside_one_call_is_granted_once(store: Store, copies: int) -> None:
    """Of equal grants in one set, the first is granted and the others are told that it was."""
    equal = [grant("o-1", 100) for _ in range(copies)]
    assert grant_each(store, *equal) == [True] + [False] * (copies - 1)
    assert account(store).balance == 100


def test_one_grant_named_twice_is_granted_once(store: Store) -> None:
    """It makes no difference whether the repeats in a set are copies or the very same object."""
    same = grant("o-1", 100)
    assert grant_each(store, same, same) == [True, False]
    assert account(store).balance == 100


def test_of_contradicting_grants_in_one_call_the_first_counts(store: Store) -> None:
    """A set that contradicts itself gives what its first grant says."""
    contradiction = [grant("o-1", 100), grant("o-1", 999)]
    assert grant_each(store, *contradiction) == [True, False]
    assert account(store).balance == 100


def test_no_grants_are_no_work(store: Store) -> None:
    """An empty set has no answers."""
    assert (
        grant_each(
            store,
        )
        == []
    )


def test_facts_that_only_look_alike_are_told_apart(store: Store) -> None:
    """Order and reason are two columns, so no separator inside one of them can make two facts one."""
    pair = [grant("A:cancel", reason="x"), grant("A", reason="cancel:x")]
    assert grant_each(store, *pair) == [True, True]


def test_order_ids_are_told_apart_by_case_and_script(store: Store) -> None:
    """Ids are compared as they are, whatever the database's collation thinks of them."""
    ids = ["a-1", "A-1", "ａ-1", "é-1", "e-1", "注文-1"]
    assert all(grant_each(store, *(grant(id_) for id_ in ids)))


def test_what_was_granted_can_be_read_back(store: Store) -> None:
    """The first grant of each fact is found by its order and reason; facts without one are left out."""
    first = grant("o-1", 100, until=date(2027, 1, 31))
    grant_each(store, first)
    facts = [("o-1", "order_confirmed"), ("o-1", "apology"), ("o-2", "order_confirmed")]
    assert list(store.run(lambda books: books.ledger.granted(facts))) == [first]


def test_the_largest_balance_is_exact(store: Store) -> None:
    """2^63-1 points can be had to the last one."""
    assert grant_each(store, grant("o-1", MAX_POINTS)) == [True]
    assert account(store).balance == MAX_POINTS


@pytest.mark.parametrize(
    "too_many",
    [
        [grant("o-2", 1)],
        [grant("o-3", 5, customer_id="c-2"), grant("o-2", 1)],
        [grant("o-3", MAX_POINTS, customer_id="c-2"), grant("o-4", MAX_POINTS, customer_id="c-2")],
    ],
    ids=["one more", "a good one in the same set", "too many only together"],
)
def test_a_balance_beyond_64_bits_is_refused_and_nothing_is_posted(store: Store, too_many: list[PointGrant]) -> None:
    """Overflow is never wrapped: the whole call is refused by name, and leaves no lot, line or balance."""
    grant_each(store, grant("o-1", MAX_POINTS))
    with pytest.raises(Refused) as refusal:
        grant_each(store, *too_many)
    assert refusal.value.field == "points"
    facts = [(one.order_id, one.reason) for one in too_many]
    assert list(store.run(lambda books: books.ledger.granted(facts))) == []
    assert (account(store).balance, account(store, "c-2").balance) == (MAX_POINTS, 0)


def test_debt_is_repaid_before_anything_can_be_spent(store: Store) -> None:
    """Of 100 points granted to a customer who owes 60, 40 are left to spend."""
    bring_into_debt(store, 60)
    grant_each(store, grant("o-2", 100))
    assert (account(store).balance, account(store).debt, open_lots(store)) == (40, 0, {"o-2": 40})


def test_a_grant_smaller_than_the_debt_opens_no_lot(store: Store) -> None:
    """Debt and open lots never coexist."""
    bring_into_debt(store, 60)
    grant_each(store, grant("o-2", 59))
    assert (account(store).balance, account(store).debt, open_lots(store)) == (-1, 1, {})


def test_a_set_of_grants_repays_the_debt_once(store: Store) -> None:
    """Several grants in one call repay together what is owed, not each of them all of it."""
    bring_into_debt(store, 60)
    grant_each(store, grant("o-2", 50), grant("o-3", 50), grant("o-4", 50))
    assert (account(store).balance, sum(open_lots(store).values())) == (90, 90)


def test_an_account_lists_the_open_lots_first_to_be_spent_first(store: Store) -> None:
    """What ends first stands first; of those that end together, the one granted first."""
    for order_id, month in (("o-1", 3), ("o-2", 1), ("o-3", 2), ("o-4", 1)):
        grant_each(store, grant(order_id, until=date(2027, month, 28)))
        store.pass_time(1)
    assert list(open_lots(store)) == ["o-2", "o-4", "o-3", "o-1"]


def test_lots_of_one_call_are_equally_old(store: Store) -> None:
    """Among those that end together, the order's id decides, not the place in the set."""
    grant_each(store, *(grant(f"o-{number}") for number in (3, 1, 4, 5, 2)))
    assert list(open_lots(store)) == ["o-1", "o-2", "o-3", "o-4", "o-5"]
    assert len({lot.granted_at for lot in account(store).lots}) == 1


def test_a_spent_lot_is_not_listed(store: Store) -> None:
    """Only lots with something left are part of an account."""
    grant_each(store, grant("o-1", 10), grant("o-2", 20))
    store.lower(EntryKind.REDEEM, "c-1", "o-1", 10)
    assert [(lot.order_id, lot.points, lot.remaining) for lot in account(store).lots] == [("o-2", 20, 20)]


def test_a_known_customer_without_points_has_an_empty_account(store: Store) -> None:
    """Zero, not nothing."""
    assert account(store) == PointAccount("c-1", 0)


def test_an_unknown_customer_has_no_account(store: Store) -> None:
    """Nothing, not zero."""
    assert store.run(lambda books: books.ledger.account("c-404")) is None


def test_a_history_tells_every_line_and_the_balance_after_it(store: Store) -> None:
    """Lines stand in order of posting, whoever else's stand between them."""
    grant_each(store, grant("o-1", 100), grant("o-2", 5, customer_id="c-2"))
    store.pass_time(60)
    grant_each(store, grant("o-3", 20, reason="apology"))
    store.lower(EntryKind.REDEEM, "c-1", "o-1", 70)
    lines = store.run(lambda books: list(books.ledger.history("c-1")))
    assert [(line.kind, line.points, line.balance_after, line.order_id, line.reason) for line in lines] == [
        (EntryKind.GRANT, 100, 100, "o-1", "order_confirmed"),
        (EntryKind.GRANT, 20, 120, "o-3", "apology"),
        (EntryKind.REDEEM, -70, 50, "o-1", "order_confirmed"),
    ]
    assert lines[1].at - lines[0].at >= timedelta(seconds=60)


def test_a_history_can_end_at_any_moment_that_moment_included(store: Store) -> None:
    """What was posted later is left out, and the balances before it do not change."""
    for order_id in ("o-1", "o-2", "o-3"):
        grant_each(store, grant(order_id, 10))
        store.pass_time(60)
    lines = store.run(lambda books: list(books.ledger.history("c-1")))

    def until(place: int, microseconds: int) -> list[int]:
        moment = lines[place].at + timedelta(microseconds=microseconds)
        return store.run(lambda books: [line.balance_after for line in books.ledger.history("c-1", as_of=moment)])

    assert (until(0, -1), until(0, 0), until(1, 0), until(2, -1)) == ([], [10], [10, 20], [10, 20])


def test_a_customer_without_lines_has_an_empty_history(store: Store) -> None:
    """Also one who was never heard of."""
    assert store.run(lambda books: list(books.ledger.history("c-404"))) == []
