"""A confirmed order grants its points and asks for its parcel, once."""

from datetime import date

import pytest

from domain.errors import Refused
from domain.operations import State
from domain.orders.events import EventState
from domain.orders.rules import OrderStatus
from domain.shipping import ShipmentRequest
from tests.application.envelopes import ADDRESS, Envelope, confirmed
from tests.application.shop import Shop


def test_a_confirmed_order_is_granted_and_asked_for(shop: Shop) -> None:
    """Its event is applied, and its customer known from then on."""
    shop.tell(confirmed())
    assert (shop.order().status, shop.state_of(confirmed())) == (OrderStatus.CONFIRMED, "applied")
    assert shop.grants() == [("o-1", "order_confirmed", 120)]
    assert (shop.request().state, shop.request().content["ship_to"]) == (State.READY, ADDRESS)
    assert shop.customer().customer_id == "c-1"


def test_an_order_without_an_address_has_nothing_to_ship(shop: Shop) -> None:
    """It earns its points all the same."""
    shop.tell(confirmed(ship_to=None))
    assert (shop.balance(), shop.parcels()) == (120, {})


def test_an_order_that_earns_nothing_is_no_error(shop: Shop) -> None:
    """A legal zero leaves no line; its parcel is asked for (B09)."""
    shop.tell(confirmed(points=0))
    assert (shop.grants(), shop.parcels(), shop.state_of(confirmed())) == ([], {1: "owed"}, "applied")


@pytest.mark.parametrize(("total", "earned"), [(12000, 120), (12099, 120), (99, 0)])
def test_points_the_shop_did_not_say_are_earned_on_the_total(shop: Shop, total: int, earned: int) -> None:
    """One percent of whole currency units, rounded down."""
    shop.tell(confirmed(points=None, total=total))
    assert shop.balance() == earned


def test_points_end_with_the_month_a_year_after_the_event(shop: Shop) -> None:
    """By the event's time in the business time zone, however late it is applied."""
    last_minute_of_october = 28 * 24 * 60 + 11 * 60 + 25  # 23:59:56 on the 31st in Tokyo, still the 31st in UTC
    events = [confirmed("o-1", minute=last_minute_of_october), confirmed("o-2", minute=last_minute_of_october + 1)]
    shop.clock.advance(40 * 86_400)
    shop.tell(*events)
    ends = {lot.order_id: lot.expires_on for lot in shop.points.account("c-1").lots}
    assert ends == {"o-1": date(2027, 10, 31), "o-2": date(2027, 11, 30)}


def test_an_order_completed_again_is_granted_once(shop: Shop) -> None:
    """The same fact under new ids, an hour and a day later, and as it was: already applied (B01)."""
    first = confirmed(id_="e-1")
    again = [confirmed(id_="e-2", minute=60), confirmed(id_="e-3", minute=1440), first]
    shop.tell(first, *again)
    shop.tell(*again)
    assert shop.events() == {
        "e-1": ("applied", None),
        "e-2": ("ignored", "already applied"),
        "e-3": ("ignored", "already applied"),
    }
    assert (shop.grants(), shop.parcels()) == ([("o-1", "order_confirmed", 120)], {1: "owed"})


def test_an_order_told_several_times_in_one_set_is_granted_once(shop: Shop) -> None:
    """Sets are applied as if their events had come one by one."""
    shop.tell_at_once(*(confirmed(id_=f"e-{number}", minute=number) for number in range(5)))
    assert (shop.grants(), shop.parcels()) == ([("o-1", "order_confirmed", 120)], {1: "owed"})


def test_a_higher_revision_with_the_same_content_is_already_applied(shop: Shop) -> None:
    """A revision alone is no news; the order stands at it from then on."""
    shop.tell(confirmed(revision=1), confirmed(revision=4))
    position = shop.order().position
    assert position is not None
    assert (position.revision, shop.state_of(confirmed(revision=4)), shop.balance()) == (4, "ignored", 120)


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (confirmed(revision=2, points=200), "points"),
        (confirmed(revision=2, total=1), "total"),
        (confirmed(revision=2, customer_id="c-2"), "customer_id"),
        (confirmed(revision=2, ship_to={**ADDRESS, "line1": "elsewhere"}), "ship_to"),
        (confirmed(revision=2, ship_to=None), "ship_to"),
        (confirmed(revision=1, points=200, id_="e-2", minute=5), "points"),
        (confirmed(revision=2, points=None, total=12000), "points"),
    ],
    ids=["points", "total", "customer", "address", "no address", "same revision", "points not said"],
)
def test_other_content_is_a_conflict_and_the_first_wins(shop: Shop, other: Envelope, difference: str) -> None:
    """The second is parked, visible, with what differs (B22)."""
    shop.tell(confirmed(), other)
    state, reason = shop.events()[other["id"]]
    assert state == "conflict"
    assert reason is not None
    assert difference in reason
    assert (shop.grants(), shop.live_parcels()) == ([("o-1", "order_confirmed", 120)], 1)
    assert shop.request().content["ship_to"] == ADDRESS


def test_a_parcel_whose_key_stands_for_another_is_a_conflict(shop: Shop) -> None:
    """The whole event waits for a person; nothing of it is done."""
    other = ShipmentRequest("o-1", 1, {**ADDRESS, "line1": "elsewhere"}).as_operation()
    shop.books.operations.register_each([other])
    shop.tell(confirmed())
    assert shop.events()[confirmed()["id"]] == ("conflict", "shipment-request:o-1 is known with other content")
    assert (shop.balance(), shop.request().request) == (0, other.request)


def test_other_content_of_a_lower_revision_is_stale(shop: Shop) -> None:
    """A late message about what has been overtaken needs no person."""
    late = confirmed(revision=1, points=200)
    shop.tell(confirmed(revision=2), late)
    assert shop.events()[late["id"]] == ("ignored", "stale")
    assert shop.balance() == 120


def test_orders_whose_ids_only_look_alike_are_told_apart(shop: Shop) -> None:
    """No separator inside an id makes two parcels, or two grants, one (B36)."""
    ids = ["A", "A:2", "A:cancel", "A%3A2", "x" * 128, "x" * 127 + "y", "注" * 128, "注" * 127 + "文"]
    for delivery in ("first", "again"):
        shop.tell(*(confirmed(order_id, id_=f"{delivery} {place}") for place, order_id in enumerate(ids)))
    assert shop.ship() == len(ids)
    assert len({booking.key for booking in shop.carrier.bookings}) == len(ids)
    assert shop.balance() == 120 * len(ids)


def test_a_set_is_no_larger_than_asked_for(shop: Shop) -> None:
    """The rest stays due; nothing due is nothing done."""
    shop.accept.execute([confirmed(f"o-{number}") for number in range(5)])
    assert [dict(shop.apply.execute(2)) for _ in range(4)] == [
        {EventState.APPLIED: 2},
        {EventState.APPLIED: 2},
        {EventState.APPLIED: 1},
        {},
    ]
    assert shop.balance() == 600


def test_an_answer_that_was_lost_applies_nothing_twice(shop: Shop) -> None:
    """The unit that runs again finds its events applied."""
    shop.accept.execute([confirmed()])
    shop.transactions.lose_next_answer()
    shop.apply.execute()
    assert (shop.grants(), shop.live_parcels()) == ([("o-1", "order_confirmed", 120)], 1)


def test_an_unknown_customer_has_no_points_to_show(shop: Shop) -> None:
    """Nobody is made up by asking."""
    with pytest.raises(Refused):
        shop.points.account("c-404")
