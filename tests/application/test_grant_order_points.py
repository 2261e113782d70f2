"""`GrantOrderPoints`: points by hand, in the same book that order events write."""

import pytest

from domain.errors import Conflict, Malformed, Refused
from domain.points import MAX_POINTS
from tests.application.envelopes import cancelled, confirmed
from tests.application.shop import Shop


def grant(
    shop: Shop, points: object = 120, *, order_id: object = "o-1", customer_id: object = "c-1", reason: object = None
) -> bool:
    return shop.grant.execute(order_id=order_id, customer_id=customer_id, points=points, reason=reason)


def test_points_are_granted_once(shop: Shop) -> None:
    """The first call says yes, every later one no, without an error."""
    assert [grant(shop) for _ in range(3)] == [True, False, False]
    assert shop.grants() == [("o-1", "order_confirmed", 120)]


def test_the_order_and_the_customer_are_known_from_then_on(shop: Shop) -> None:
    """Whether an event ever tells of them or not."""
    grant(shop)
    assert (shop.order().status, shop.order().customer_id, shop.customer().customer_id) == ("announced", "c-1", "c-1")


def test_an_event_that_confirms_what_was_granted_by_hand_grants_nothing_more(shop: Shop) -> None:
    """It ships, and is applied."""
    grant(shop)
    shop.tell(confirmed())
    assert (shop.grants(), shop.live_parcels()) == ([("o-1", "order_confirmed", 120)], 1)
    assert shop.state_of(confirmed()) == "applied"


def test_other_points_for_the_same_reason_are_a_conflict(shop: Shop) -> None:
    """Whether the first ones came by hand or by event; the first stay."""
    shop.tell(confirmed("o-1"))
    grant(shop, order_id="o-2")
    for order_id in ("o-1", "o-2"):
        with pytest.raises(Conflict, match="120"):
            grant(shop, 200, order_id=order_id)
        with pytest.raises(Conflict, match="c-1"):
            grant(shop, customer_id="c-2", order_id=order_id)
    assert (shop.balance(), shop.balance("c-2")) == (240, 0)


@pytest.mark.parametrize("told", [{"points": 200}, {"customer_id": "c-2"}], ids=["other points", "another customer"])
def test_an_event_that_contradicts_a_grant_by_hand_is_a_conflict(shop: Shop, told: dict[str, object]) -> None:
    """It changes nothing and is visible; the other events of its set are applied."""
    grant(shop)
    contradiction = confirmed("o-1", **told)  # type: ignore[arg-type]
    shop.tell_at_once(confirmed("o-0"), contradiction, confirmed("o-2"))
    state, reason = shop.events()[contradiction["id"]]
    assert state == "conflict"
    assert reason is not None
    assert "120 points" in reason
    assert (shop.order().status, shop.live_parcels("o-1"), shop.balance("c-2")) == ("announced", 0, 0)
    assert (shop.balance(), shop.live_parcels("o-0"), shop.live_parcels("o-2")) == (360, 1, 1)


def test_another_reason_is_another_grant(shop: Shop) -> None:
    """Beside what the order earns."""
    shop.tell(confirmed())
    assert grant(shop, 30, reason="apology")
    assert not grant(shop, 30, reason="apology")
    assert shop.balance() == 150


def test_a_cancelled_order_earns_nothing_by_hand(shop: Shop) -> None:
    """Unless another reason is given."""
    shop.tell(cancelled())
    with pytest.raises(Refused, match="cancelled"):
        grant(shop)
    with pytest.raises(Refused, match="cancelled"):
        grant(shop, reason="order_confirmed#3")
    assert grant(shop, 30, reason="apology")
    assert shop.grants() == [("o-1", "apology", 30)]


def test_a_grant_by_hand_is_taken_back_by_a_cancel(shop: Shop) -> None:
    """Also when no confirmation ever came."""
    grant(shop)
    shop.tell(cancelled())
    assert shop.balance() == 0


def test_a_grant_repeated_after_the_cancel_is_still_known(shop: Shop) -> None:
    """It was granted; that it was taken back does not make it due again."""
    grant(shop)
    shop.tell(cancelled())
    assert not grant(shop)
    assert shop.balance() == 0


def test_an_order_granted_by_hand_cancelled_and_confirmed_again_is_granted_once_more(shop: Shop) -> None:
    """The higher revision after the cancel re-activates it: its points are owed, under the next key."""
    grant(shop)
    shop.tell(cancelled(revision=2), confirmed(revision=3))
    assert (shop.order().status, shop.balance(), shop.live_parcels()) == ("confirmed", 120, 1)


@pytest.mark.parametrize("by_hand_before", [True, False])
def test_points_of_an_order_confirmed_after_its_cancel_are_not_granted_by_hand_as_well(
    shop: Shop, *, by_hand_before: bool
) -> None:
    """They are the order's points, whichever key they stand under (B02)."""
    if by_hand_before:
        grant(shop, 30, reason="apology")
    shop.tell(cancelled(revision=2), confirmed(revision=3))
    assert not grant(shop)
    assert shop.balance() == (150 if by_hand_before else 120)


def test_a_cancel_takes_back_from_the_customer_who_was_granted(shop: Shop) -> None:
    """Whoever else was given points for the same order; nobody's points pay for another's."""
    grant(shop, 30, reason="apology", customer_id="c-2")
    grant(shop, 120, customer_id="c-1")
    shop.tell(cancelled())
    assert (shop.balance("c-1"), shop.balance("c-2")) == (0, 30)


def test_a_confirmation_for_another_customer_without_points_leaves_sound_books(shop: Shop) -> None:
    """Its later cancel takes back what was granted, from whoever was granted it."""
    grant(shop, 120, customer_id="c-1")
    shop.tell(confirmed(customer_id="c-2", points=0), cancelled())
    assert (shop.balance("c-1"), shop.balance("c-2")) == (0, 0)


def test_no_points_are_no_grant(shop: Shop) -> None:
    """And no error (B09)."""
    assert not grant(shop, 0)
    assert shop.books.orders.orders == {}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("points", value) for value in (-5, 1.5, "10", "1e3", True, None, float("inf"), MAX_POINTS + 1)),
        *(("order_id", value) for value in (None, "", " o", 1.0, "x" * 129)),
        *(("customer_id", value) for value in (None, "", "c\x00", True)),
        *(("reason", value) for value in ("", 1.0, "a\nb")),
    ],
)
def test_what_cannot_be_understood_is_refused_by_name_of_field(shop: Shop, field: str, value: object) -> None:
    """With nothing stored (B09)."""
    arguments = {"order_id": "o-1", "customer_id": "c-1", "points": 120, "reason": "apology", field: value}
    with pytest.raises(Malformed) as refusal:
        shop.grant.execute(**arguments)
    assert refusal.value.field == field
    assert (shop.books.orders.orders, shop.books.customers.customers) == ({}, {})


def test_numbers_are_ids_as_their_digits(shop: Shop) -> None:
    """11497 and "11497" are one order."""
    assert grant(shop, order_id=11497)
    assert not grant(shop, order_id="11497")


def test_more_than_a_balance_can_hold_is_refused(shop: Shop) -> None:
    """Never wrapped; the order that was refused can be granted when there is room (B09)."""
    assert grant(shop, MAX_POINTS)
    with pytest.raises(Refused) as refusal:
        grant(shop, 1, order_id="o-2")
    assert refusal.value.field == "points"
    assert "o-2" not in shop.books.orders.orders
    shop.tell(cancelled("o-1"))
    assert grant(shop, 1, order_id="o-2")


def test_facts_that_only_look_alike_are_told_apart(shop: Shop) -> None:
    """(A:cancel, x) and (A, cancel:x) are two grants (B36)."""
    assert grant(shop, order_id="A:cancel", reason="x")
    assert grant(shop, order_id="A", reason="cancel:x")


def test_an_answer_that_was_lost_grants_once(shop: Shop) -> None:
    """Whoever is told "before" by mistake has the points all the same."""
    shop.transactions.lose_next_answer()
    grant(shop)
    assert shop.grants() == [("o-1", "order_confirmed", 120)]
