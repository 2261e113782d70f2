"""`PointLedger`: points spent, once per redemption and never more than there are; points that lapse."""

from datetime import date

import pytest

from domain.errors import Conflict, Refused
from domain.points import EntryKind, PointRedemption
from tests.contracts.accounts import account, bring_into_debt, grant_each, open_lots, reverse_each
from tests.contracts.crowds import CROWD, in_threads
from tests.contracts.samples import grant, reversal
from tests.contracts.stores import Runner, Store

ROUNDS = 25


def redemption(
    redemption_id: str = "r-1", points: int = 100, *, customer_id: str = "c-1", order_id: str | None = None
) -> PointRedemption:
    return PointRedemption(redemption_id, customer_id, points, order_id)


def redeem(store: Runner, asked: PointRedemption) -> bool:
    """One call, in a transaction of its own."""
    return store.run(lambda books: books.ledger.redeem_once(asked))


def expire(store: Runner, today: date, *customer_ids: str) -> int:
    return store.run(lambda books: books.ledger.expire_due(customer_ids or ("c-1",), today))


def entries(store: Runner, customer_id: str = "c-1") -> list[tuple[EntryKind, int]]:
    return [(one.kind, one.points) for one in store.run(lambda books: list(books.ledger.history(customer_id)))]


def test_a_redemption_is_spent_once(store: Store) -> None:
    """Again it is the same one, without an error."""
    grant_each(store, grant("o-1"))
    assert [redeem(store, redemption(points=30)) for _ in range(3)] == [True, False, False]
    assert (account(store).balance, entries(store)[1:]) == (70, [(EntryKind.REDEEM, -30)])


def test_the_lot_that_ends_first_is_spent_first(store: Store) -> None:
    """Then the one granted first."""
    grant_each(store, grant("late", 50, until=date(2028, 6, 30)), grant("early", 50, until=date(2027, 6, 30)))
    grant_each(store, grant("late too", 50, until=date(2028, 6, 30)))
    redeem(store, redemption(points=70))
    assert open_lots(store) == {"late": 30, "late too": 50}
    redeem(store, redemption("r-2", 40))
    assert open_lots(store) == {"late too": 40}


def test_two_redemptions_on_one_order_are_two_facts(store: Store) -> None:
    """Each has its own id."""
    grant_each(store, grant("o-1"))
    assert redeem(store, redemption("r-1", 10, order_id="o-2"))
    assert redeem(store, redemption("r-2", 10, order_id="o-2"))
    assert account(store).balance == 80


@pytest.mark.parametrize(
    "other",
    [redemption(points=31), redemption(points=30, customer_id="c-2"), redemption(points=30, order_id="o-9")],
    ids=["points", "customer", "order"],
)
def test_the_same_redemption_with_other_content_is_a_conflict(store: Store, other: PointRedemption) -> None:
    """The first one stays."""
    grant_each(store, grant("o-1"), grant("o-2", customer_id="c-2"))
    redeem(store, redemption(points=30))
    with pytest.raises(Conflict, match="30 points of customer c-1"):
        redeem(store, other)
    assert (account(store).balance, account(store, "c-2").balance) == (70, 100)


def test_more_than_there_is_cannot_be_spent(store: Store) -> None:
    """Nothing is stored, and the id stays free."""
    grant_each(store, grant("o-1"))
    with pytest.raises(Refused, match="has 100 points, too few to spend 101"):
        redeem(store, redemption(points=101))
    assert redeem(store, redemption(points=100))
    with pytest.raises(Refused, match="has 0 points"):
        redeem(store, redemption("r-2", 1))


def test_nothing_is_spent_in_debt(store: Store) -> None:
    """Debt is repaid first."""
    bring_into_debt(store, 60)
    with pytest.raises(Refused, match="owes 60 points"):
        redeem(store, redemption(points=1))
    grant_each(store, grant("o-2", 100))
    assert redeem(store, redemption(points=40))
    assert account(store).balance == 0


def test_what_was_spent_becomes_debt_when_its_order_is_cancelled(store: Store) -> None:
    """As far as no other lot can pay for it."""
    grant_each(store, grant("o-1", 100), grant("o-2", 30))
    redeem(store, redemption(points=100))
    reverse_each(store, reversal("o-1"))
    assert (account(store).balance, account(store).debt) == (-70, 70)


def test_points_lapse_the_day_after_their_last(store: Store) -> None:
    """An entry per lot; what was spent before does not lapse, and nothing lapses twice."""
    grant_each(store, grant("o-1", 100, until=date(2027, 6, 30)), grant("o-2", 50, until=date(2027, 7, 31)))
    redeem(store, redemption(points=30))
    assert expire(store, date(2027, 6, 30)) == 0
    assert expire(store, date(2027, 7, 1)) == 70
    assert expire(store, date(2027, 7, 1)) == 0
    assert (open_lots(store), entries(store)[-1]) == ({"o-2": 50}, (EntryKind.EXPIRE, -70))
    assert expire(store, date(2028, 1, 1), "c-other") == 0


def test_of_two_that_spend_the_same_points_one_is_refused(store: Store) -> None:
    """However often, and however many at once (B06)."""
    for turn in range(ROUNDS):
        grant_each(store, grant(f"o-{turn}"))

        def spend(number: int, turn: int = turn) -> bool:
            try:
                return redeem(store, redemption(f"r-{turn}-{number}"))
            except Refused:
                return False

        assert sum(in_threads(spend)) == 1
        assert account(store).balance == 0


def test_the_same_redemption_from_many_at_once_is_one(store: Store) -> None:
    """The others are told that it was done."""
    grant_each(store, grant("o-1", 1000))
    assert sum(in_threads(lambda _: redeem(store, redemption(points=10)))) == 1
    assert (account(store).balance, CROWD > 1) == (990, True)
