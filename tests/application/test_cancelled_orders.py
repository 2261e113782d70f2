"""A cancelled order leaves nothing granted and nothing shipped; a re-activated one is granted and shipped once more."""

import pytest

from domain.operations import Outcome, State
from domain.orders.rules import OrderStatus
from domain.points import EntryKind
from tests.application.envelopes import Envelope, cancelled, confirmed, refunded
from tests.application.shop import Shop


def test_a_cancel_takes_the_points_back_and_the_parcel_is_never_asked_for(shop: Shop) -> None:
    """While the parcel is still ours, it is enough to withdraw it."""
    shop.tell(confirmed(), cancelled())
    assert (shop.order().status, shop.balance(), shop.parcels()) == (OrderStatus.CANCELLED, 0, {1: "cancelled"})
    assert (shop.ship(), shop.stop_parcels(), shop.carrier.received) == (0, 0, [])


def test_a_parcel_that_a_worker_was_about_to_send_is_withdrawn(shop: Shop) -> None:
    """Claimed, but not yet sent, when its worker died; people see that it was cancelled."""
    shop.tell(confirmed())
    shop.books.operations.claim("shipment-request", 1, lease_seconds=30, worker="w", max_attempts=3)
    shop.tell(cancelled())
    assert (shop.request().state, shop.parcels()) == (State.REFUSED, {1: "cancelled"})


def test_the_carrier_is_asked_to_stop_a_parcel_that_was_asked_for(shop: Shop) -> None:
    """And people see it cancelled when the carrier has said so."""
    shop.tell(confirmed())
    shop.ship()
    shop.tell(cancelled())
    assert (shop.balance(), shop.parcels()) == (0, {1: "booked"})
    assert shop.stop_parcels() == 1
    assert [booking.status for booking in shop.carrier.bookings] == ["cancelled"]
    assert shop.parcels() == {1: "cancelled"}


def test_a_parcel_that_has_left_is_flagged_for_a_person(shop: Shop) -> None:
    """The points are back; the parcel cannot be."""
    shop.tell(confirmed())
    shop.ship()
    shop.carrier.bookings[0].status = "left"
    shop.tell(cancelled())
    shop.stop_parcels()
    assert (shop.cancellation().state, shop.cancellation().reason) == (State.NEEDS_CONFIRMATION, "the parcel has left")
    assert shop.parcels() == {1: "needs_confirmation"}


def test_a_parcel_that_could_not_be_sent_before_the_cancel_is_not_sent_after_it(shop: Shop) -> None:
    """The carrier was out of reach when it was asked; an order cancelled since then is not asked for again."""
    shop.tell(confirmed())
    shop.carrier.will_answer(shop.request().key, Outcome.NOT_SENT)
    during_call = shop.carrier.during_call
    shop.carrier.during_call = lambda: shop.tell(cancelled())
    shop.ship()
    shop.carrier.during_call = during_call
    shop.clock.advance(3600)
    shop.ship()
    shop.stop_parcels()
    assert shop.carrier.bookings == []
    assert shop.request().state is State.REFUSED


def test_a_cancel_before_its_confirmation_leaves_nothing(shop: Shop) -> None:
    """A-132: the confirmation that comes late is stale (B34)."""
    late = confirmed(revision=1, minute=-2)
    shop.tell(cancelled(revision=2), late)
    assert shop.events()[late["id"]] == ("ignored", "stale")
    assert (shop.grants(), shop.parcels(), shop.order().status) == ([], {}, OrderStatus.CANCELLED)


def test_a_cancel_and_its_confirmation_in_one_set_leave_nothing(shop: Shop) -> None:
    """In either order."""
    shop.tell_at_once(cancelled("o-1"), confirmed("o-1"), confirmed("o-2"), cancelled("o-2"))
    assert (shop.balance(), shop.live_parcels("o-1"), shop.live_parcels("o-2")) == (0, 0, 0)


@pytest.mark.parametrize(
    "late",
    [
        confirmed(revision=1, id_="again", minute=120),
        confirmed(revision=2, id_="again", minute=120),
        confirmed(revision=1, points=999, id_="again", minute=120),
    ],
    ids=["same revision", "the cancel's revision", "other content"],
)
def test_a_late_confirmation_does_not_revive_a_cancelled_order(shop: Shop, late: Envelope) -> None:
    """Only a revision higher than the cancel's does (B33)."""
    shop.tell(confirmed(), cancelled(), late)
    assert shop.events()[late["id"]] == ("ignored", "stale")
    assert (shop.balance(), shop.live_parcels(), shop.order().status) == (0, 0, OrderStatus.CANCELLED)


def test_a_cancel_told_again_takes_nothing_more(shop: Shop) -> None:
    """Under other ids and revisions too."""
    shop.tell(confirmed("o-2"), confirmed(), cancelled(), cancelled(id_="again", minute=9), cancelled(revision=5))
    assert shop.balance() == 120
    assert [points for _, _, points in shop.grants()] == [120, 120, -120]


def test_a_cancel_of_a_lower_revision_is_stale(shop: Shop) -> None:
    """The order obeys its highest revision."""
    shop.tell(confirmed(revision=3), cancelled(revision=2))
    assert shop.state_of(cancelled(revision=2)) == "ignored"
    assert (shop.balance(), shop.live_parcels()) == (120, 1)


def test_equal_revisions_are_decided_by_time(shop: Shop) -> None:
    """Of a confirmation and a cancel with one revision, the later one counts, whichever comes first."""
    shop.tell(confirmed("o-1", 1), cancelled("o-1", 1, minute=2))
    shop.tell(cancelled("o-2", 1, minute=2), confirmed("o-2", 1))
    shop.tell(confirmed("o-3", 1, minute=5), cancelled("o-3", 1, minute=2))
    assert [shop.live_parcels(order_id) for order_id in ("o-1", "o-2", "o-3")] == [0, 0, 1]


def test_a_higher_revision_after_a_cancel_grants_and_ships_once_more(shop: Shop) -> None:
    """Under the next keys, also with other content than before."""
    shop.tell(
        confirmed(), cancelled(), confirmed(revision=3, points=150), confirmed(revision=3, points=150, id_="again")
    )
    assert shop.grants() == [
        ("o-1", "order_confirmed", 120),
        ("o-1", "order_confirmed", -120),
        ("o-1", "order_confirmed#3", 150),
    ]
    assert shop.parcels() == {1: "cancelled", 2: "owed"}
    assert shop.request(number=2).key == "shipment-request:o-1:2"


def test_a_re_activated_order_can_be_cancelled_again(shop: Shop) -> None:
    """What was granted and asked for last is what is taken back."""
    shop.tell(confirmed(), cancelled(), confirmed(revision=3))
    shop.ship()
    shop.tell(cancelled(revision=4))
    shop.stop_parcels()
    assert (shop.balance(), shop.parcels()) == (0, {1: "cancelled", 2: "cancelled"})
    assert [booking.status for booking in shop.carrier.bookings] == ["cancelled"]


def test_confirmed_cancelled_and_confirmed_in_one_set_is_granted_and_shipped_once(shop: Shop) -> None:
    """As if the three had come one by one."""
    shop.tell_at_once(confirmed(), cancelled(), confirmed(revision=3))
    assert (shop.balance(), shop.parcels()) == (120, {1: "cancelled", 2: "owed"})


def test_spent_points_of_a_cancelled_order_become_debt(shop: Shop) -> None:
    """And the next order repays it."""
    shop.tell(confirmed())
    shop.books.ledger.lower(EntryKind.REDEEM, "c-1", ("o-1", "order_confirmed"), 100)
    shop.tell(cancelled())
    assert shop.points.account("c-1").debt == 100
    shop.tell(confirmed("o-2"))
    assert (shop.balance(), shop.points.account("c-1").lots[0].remaining) == (20, 20)


def test_a_refund_waits_for_its_rule(shop: Shop) -> None:
    """It is kept, unapplied and visible, and moves neither its order nor a later event."""
    shop.tell(refunded(), confirmed(), refunded(refund_id="R2"))
    assert {shop.events()[id_][0] for id_ in ("refund R1", "refund R2")} == {"waiting"}
    assert (shop.balance(), shop.live_parcels()) == (120, 1)


def test_a_refund_of_an_unknown_order_makes_no_order(shop: Shop) -> None:
    """It waits for the order to be told of."""
    shop.tell(refunded())
    assert shop.books.orders.orders == {}
