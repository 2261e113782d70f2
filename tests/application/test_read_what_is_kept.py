"""`ReadOperations`, `ReadOrders`, `ReadShipments` and `ReadPoints`: what people look at."""

import pytest

from application.operations import ReadOperations
from application.orders import ReadOrders
from domain.errors import Malformed, Refused
from domain.operations import Outcome, State
from domain.shipping import CANCEL, REQUEST
from tests.application.envelopes import cancelled, confirmed
from tests.application.shop import Shop


@pytest.fixture
def operations(shop: Shop) -> ReadOperations:
    return ReadOperations(shop.transactions)


@pytest.fixture
def orders(shop: Shop) -> ReadOrders:
    return ReadOrders(shop.transactions)


def some_of_each(shop: Shop) -> None:
    """A parcel booked and stopped, one flagged, one due, the newest last; a conflict and a stale event."""
    shop.tell(confirmed("o-1"))
    shop.ship()
    shop.clock.advance(1)
    shop.tell(cancelled("o-1"), confirmed("o-1", 1, id_="late", minute=5))
    shop.stop_parcels()
    shop.clock.advance(1)
    shop.carrier.will_answer("shipment-request:o-2", Outcome.FLAGGED)
    shop.tell(confirmed("o-2"), confirmed("o-2", 2, points=1))
    shop.ship()
    shop.clock.advance(1)
    shop.tell(confirmed("o-3"))


def test_operations_are_found_by_state_kind_and_order(shop: Shop, operations: ReadOperations) -> None:
    """The newest first."""
    some_of_each(shop)
    assert [one.subject for one in operations.find(kind=REQUEST)] == ["o-3", "o-2", "o-1"]
    assert [one.kind for one in operations.find(subject="o-1")] == [CANCEL, REQUEST]
    assert [one.subject for one in operations.find(state="needs_confirmation")] == ["o-2"]
    assert [one.subject for one in operations.find(limit=1)] == ["o-3"]
    assert operations.due([REQUEST, CANCEL]) == {REQUEST: 1}


@pytest.mark.parametrize("field", ["state", "kind"])
def test_a_state_or_kind_that_does_not_exist_is_refused(operations: ReadOperations, field: str) -> None:
    """By name, with what there is."""
    with pytest.raises(Malformed, match="must be one of") as refusal:
        operations.find(**{field: "done"})  # type: ignore[arg-type]
    assert refusal.value.field == field


def test_one_operation_is_read_with_its_story(shop: Shop, operations: ReadOperations) -> None:
    """An unknown one is named."""
    some_of_each(shop)
    assert operations.get("shipment-request:o-1").state is State.COMPLETED
    assert [line["what"] for line in operations.story("shipment-request:o-1")] == ["claimed", "sent", "completed"]
    with pytest.raises(Refused, match="no operation shipment-request:o-404"):
        operations.get("shipment-request:o-404")


def test_whether_anything_waits_for_a_person_can_be_asked(shop: Shop, operations: ReadOperations) -> None:
    """Not what waits for its time only."""
    shop.tell(confirmed())
    shop.carrier.will_answer("shipment-request:o-1", Outcome.THROTTLED)
    shop.ship()
    assert not operations.waiting_for_a_person()
    some_of_each(shop)
    assert operations.waiting_for_a_person()


def test_events_are_found_by_state_and_order(shop: Shop, orders: ReadOrders) -> None:
    """With why they ended so."""
    some_of_each(shop)
    (conflict,) = orders.events(state="conflict")
    assert (conflict["event_id"], conflict["reason"]) == (
        "order.confirmed o-2#2",
        "already confirmed with other points",
    )
    assert [one["reason"] for one in orders.events(state="ignored", subject="o-1")] == ["stale"]
    assert len(orders.events(subject="o-1")) == 3
    assert len(orders.events(limit=2)) == 2
    with pytest.raises(Malformed, match="must be one of"):
        orders.events(state="lost")


def test_an_order_is_read_as_it_stands(shop: Shop, orders: ReadOrders) -> None:
    """Or not at all."""
    some_of_each(shop)
    order = orders.get("o-2")
    assert order is not None
    assert (order.status, order.points) == ("confirmed", 120)
    assert orders.get("o-404") is None


def test_parcels_are_found_by_state_and_order(shop: Shop) -> None:
    """In the words people use for them, the newest first."""
    some_of_each(shop)
    assert [(one.order_id, one.state, one.reference) for one in shop.shipments.execute()] == [
        ("o-3", "owed", None),
        ("o-2", "needs_confirmation", None),
        ("o-1", "cancelled", "SH-1"),
    ]
    assert [one.order_id for one in shop.shipments.execute(state="owed")] == ["o-3"]
    assert [one.order_id for one in shop.shipments.execute(order_id="o-1")] == ["o-1"]
    assert shop.shipments.execute(state="owed", order_id="o-1") == []


def test_points_are_read_by_a_customers_id(shop: Shop) -> None:
    """An unknown customer is named for the account and has an empty history."""
    some_of_each(shop)
    assert shop.points.account("c-1").balance == 240
    assert [line.balance_after for line in shop.points.history("c-1")] == [120, 0, 120, 240]
    assert shop.points.history("c-404") == []
    with pytest.raises(Refused) as refusal:
        shop.points.account("c-404")
    assert refusal.value.field == "customer_id"
    with pytest.raises(Malformed):
        shop.points.history(1.5)


def test_a_history_is_read_as_of_a_moment(shop: Shop) -> None:
    """That moment included."""
    some_of_each(shop)
    third = shop.points.history("c-1")[2]
    assert len(shop.points.history("c-1", as_of=third.at)) == 3
