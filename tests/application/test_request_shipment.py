"""`RequestShipment`: an order's parcel by hand, the first or one more."""

import pytest

from domain.errors import Malformed, Refused
from domain.operations import Outcome, Registration, State
from tests.application.envelopes import ADDRESS, cancelled, confirmed
from tests.application.shop import Shop


def test_a_parcel_that_was_asked_for_is_a_no_op(shop: Shop) -> None:
    """By the event, by hand, before it is booked and after (B40)."""
    shop.tell(confirmed())
    assert [shop.ask.execute("o-1"), shop.ask.execute("o-1", 1)] == [Registration.KNOWN] * 2
    shop.ship()
    assert shop.ask.execute("o-1") is Registration.KNOWN
    shop.ship()
    assert (len(shop.carrier.bookings), shop.parcels()) == (1, {1: "booked"})


def test_one_more_parcel_has_its_own_key_and_booking(shop: Shop) -> None:
    """To the same address; asked for again, it is known (B40)."""
    shop.tell(confirmed())
    shop.ship()
    assert [shop.ask.execute("o-1", 2) for _ in range(3)] == [Registration.NEW, Registration.KNOWN, Registration.KNOWN]
    shop.ship()
    assert [booking.key for booking in shop.carrier.bookings] == ["shipment-request:o-1", "shipment-request:o-1:2"]
    assert shop.request(number=2).content["ship_to"] == ADDRESS
    assert shop.order().shipments == 2


@pytest.mark.parametrize("outcome", [None, Outcome.UNKNOWN, Outcome.THROTTLED, Outcome.FLAGGED])
def test_no_more_is_asked_for_while_the_parcel_before_is_unsettled(shop: Shop, outcome: Outcome | None) -> None:
    """Whoever is impatient must not get two."""
    shop.tell(confirmed())
    if outcome is not None:
        shop.carrier.will_answer("shipment-request:o-1", outcome)
        shop.ship()
    with pytest.raises(Refused, match="parcel 1 of order o-1 is not settled yet") as refusal:
        shop.ask.execute("o-1", 2)
    assert refusal.value.field == "number"
    assert shop.order().shipments == 1


def test_a_parcel_the_carrier_refused_may_be_followed_by_another(shop: Shop) -> None:
    """A definite no is settled."""
    shop.tell(confirmed())
    shop.carrier.will_answer("shipment-request:o-1", Outcome.REFUSED)
    shop.ship()
    assert shop.ask.execute("o-1", 2) is Registration.NEW


@pytest.mark.parametrize("number", [0, -1, True, "1", 1.0, None, 2**31])
def test_what_is_no_parcels_number_is_refused(shop: Shop, number: object) -> None:
    """By name of field."""
    shop.tell(confirmed())
    with pytest.raises(Malformed) as refusal:
        shop.ask.execute("o-1", number)
    assert refusal.value.field == "number"


@pytest.mark.parametrize("number", [3, 10**9])
def test_parcels_are_asked_for_one_after_the_other(shop: Shop, number: int) -> None:
    """No number is left out."""
    shop.tell(confirmed())
    shop.ship()
    with pytest.raises(Refused, match="from 1 to 2") as refusal:
        shop.ask.execute("o-1", number)
    assert refusal.value.field == "number"


def test_an_unknown_order_has_no_parcels(shop: Shop) -> None:
    """It is named."""
    with pytest.raises(Refused, match="o-404") as refusal:
        shop.ask.execute("o-404")
    assert refusal.value.field == "order_id"


@pytest.mark.parametrize("order_id", ["", None, 1.5, "o\x00"])
def test_what_is_no_order_id_is_refused(shop: Shop, order_id: object) -> None:
    """By name of field."""
    with pytest.raises(Malformed) as refusal:
        shop.ask.execute(order_id)
    assert refusal.value.field == "order_id"


def test_an_order_without_an_address_is_not_shipped(shop: Shop) -> None:
    """There is nowhere to send it."""
    shop.tell(confirmed(ship_to=None))
    with pytest.raises(Refused, match="no address"):
        shop.ask.execute("o-1")


def test_an_order_that_is_not_confirmed_is_not_shipped(shop: Shop) -> None:
    """Neither a cancelled one, whose parcel of before stays known, nor one known by a grant alone."""
    shop.grant.execute(order_id="o-0", customer_id="c-1", points=5)
    with pytest.raises(Refused, match="announced"):
        shop.ask.execute("o-0")
    shop.tell(confirmed("o-1"), cancelled("o-1"), cancelled("o-2"))
    assert shop.ask.execute("o-1") is Registration.KNOWN
    for order_id, number in (("o-1", 2), ("o-2", 1)):
        with pytest.raises(Refused, match="cancelled"):
            shop.ask.execute(order_id, number)


def test_every_parcel_of_a_cancelled_order_is_stopped(shop: Shop) -> None:
    """Those asked for by hand too."""
    shop.tell(confirmed())
    shop.ship()
    shop.ask.execute("o-1", 2)
    shop.ship()
    shop.ask.execute("o-1", 3)
    shop.tell(cancelled())
    shop.stop_parcels()
    assert shop.parcels() == {1: "cancelled", 2: "cancelled", 3: "cancelled"}
    assert [booking.status for booking in shop.carrier.bookings] == ["cancelled", "cancelled"]


def test_a_re_activated_order_counts_on(shop: Shop) -> None:
    """The parcel after the cancel, and one more by hand."""
    shop.tell(confirmed(), cancelled(), confirmed(revision=3))
    shop.ship()
    shop.ask.execute("o-1", 3)
    shop.ship()
    assert shop.parcels() == {1: "cancelled", 2: "booked", 3: "booked"}


def test_an_answer_that_was_lost_asks_once(shop: Shop) -> None:
    """The unit that runs again finds its own parcel."""
    shop.tell(confirmed())
    shop.ship()
    shop.transactions.lose_next_answer()
    shop.ask.execute("o-1", 2)
    assert (shop.order().shipments, shop.request(number=2).state) == (2, State.READY)
