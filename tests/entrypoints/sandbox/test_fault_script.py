"""The script of faults: which request each one strikes, how often, and what cannot be scripted."""

from typing import Any

import pytest

from tests.entrypoints.sandbox.world import Parcel, World


def test_faults_strike_in_the_order_in_which_they_were_scripted(world: World, parcel: Parcel) -> None:
    """Each is used up by its request, then the world is honest again."""
    for fault in ("status_503", "status_500", "retry_after_1"):
        world.script(fault, parcel.order_id)
    assert [world.book(parcel).status_code for _ in range(4)] == [503, 500, 429, 201]
    assert [row["fault"] for row in world.seen(parcel)] == ["status_503", "status_500", "retry_after_1", None]


def test_a_fault_strikes_only_what_it_matches(world: World, parcel: Parcel) -> None:
    """A part of the key or of the order id picks the request; others are served."""
    world.script("status_500", parcel.key)
    world.booked(Parcel())
    assert world.book(parcel).status_code == 500


def test_an_empty_match_strikes_anything(world: World, parcel: Parcel) -> None:
    """Without a match the next POST is struck, whosever it is."""
    assert world.http.post("/_faults", json={"target": "shipments", "fault": "status_500"}).status_code == 201
    assert world.book(parcel).status_code == 500
    world.booked(parcel)


def test_times_count_down_and_null_never_ends(world: World, parcel: Parcel) -> None:
    """What remains is listed; a fault without an end goes on until it is cleared."""
    world.script("status_500", parcel.order_id, times=2)
    world.script("status_503", parcel.order_id, times=None)
    assert world.book(parcel).status_code == 500
    row = {"target": "shipments", "match": parcel.order_id}
    assert world.http.get("/_faults").json() == {
        "faults": [row | {"fault": "status_500", "times": 1}, row | {"fault": "status_503", "times": None}]
    }
    assert [world.book(parcel).status_code for _ in range(4)] == [500, 503, 503, 503]
    assert world.http.delete("/_faults").status_code == 204
    assert world.http.get("/_faults").json() == {"faults": []}
    world.booked(parcel)


def test_look_ups_are_struck_only_when_named(world: World, parcel: Parcel) -> None:
    """A fault for POSTs leaves look-ups alone, and one for look-ups leaves POSTs alone."""
    world.script("status_500", parcel.order_id)
    world.script("status_503", f"GET {parcel.order_id}")
    assert world.http.get("/shipments", params={"client_reference": parcel.key}).status_code == 503
    assert world.found(parcel) == []
    assert world.book(parcel).status_code == 500
    assert [row["status"] for row in world.seen(parcel, "GET")] == [503, 200]


def test_a_look_up_may_lie(world: World, parcel: Parcel) -> None:
    """A look-up that names a stranger's order is as possible as a booking that does."""
    world.booked(parcel)
    world.script("wrong_order", f"GET {parcel.key}")
    assert [row["order_id"] for row in world.found(parcel)] != [parcel.order_id]
    assert [row["order_id"] for row in world.found(parcel)] == [parcel.order_id]


def test_cancellations_are_struck_like_bookings(world: World, parcel: Parcel) -> None:
    """A cancellation is a POST too; its key tells it from the booking."""
    world.script("status_502_after", parcel.cancel_key)
    reference = world.booked(parcel)["reference"]
    assert world.cancel(parcel, reference).status_code == 502
    assert world.ledger(parcel)[0]["status"] == "cancelled"
    assert world.cancel(parcel, reference).json()["status"] == "cancelled"


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({}, "target"),
        ({"target": "moon", "fault": "html"}, "target"),
        ({"target": ["shipments"], "fault": "html"}, "target"),
        ({"target": "labels", "fault": "html"}, "target"),
        ({"target": "charges", "fault": "status_202"}, "fault"),
        ({"target": "refunds", "fault": "wrong_order"}, "fault"),
        ({"target": "charges", "fault": "replayed_500", "match": "GET "}, "fault"),
        ({"target": "shipments"}, "fault"),
        ({"target": "shipments", "fault": 500}, "fault"),
        ({"target": "shipments", "fault": "explode"}, "fault"),
        ({"target": "shipments", "fault": "status_399"}, "fault"),
        ({"target": "shipments", "fault": "status_600"}, "fault"),
        ({"target": "shipments", "fault": "status_200"}, "fault"),
        ({"target": "shipments", "fault": "status_199_after"}, "fault"),
        ({"target": "shipments", "fault": "status_202_soon"}, "fault"),
        ({"target": "shipments", "fault": "redirect_300"}, "fault"),
        ({"target": "shipments", "fault": "retry_after_"}, "fault"),
        ({"target": "shipments", "fault": "retry_after_1\r"}, "fault"),
        ({"target": "shipments", "fault": "status_202", "match": "GET "}, "fault"),
        ({"target": "shipments", "fault": "in_progress", "match": "GET o"}, "fault"),
        ({"target": "shipments", "fault": "html", "match": None}, "match"),
        ({"target": "shipments", "fault": "html", "times": 0}, "times"),
        ({"target": "shipments", "fault": "html", "times": True}, "times"),
        ({"target": "shipments", "fault": "html", "times": 1.5}, "times"),
        ({"target": "shipments", "fault": "html", "matches": "o"}, "matches"),
    ],
)
def test_what_cannot_be_scripted_is_refused_by_name(world: World, wish: dict[str, Any], field: str) -> None:
    """A fault that could never strike as meant is refused, so that no test waits for it in vain."""
    answer = world.http.post("/_faults", json=wish)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert world.http.get("/_faults").json() == {"faults": []}


@pytest.mark.parametrize("target", ["labels", "mail"])
def test_a_provider_that_does_not_exist_yet_has_no_faults(world: World, target: str) -> None:
    """The refusal says what is missing instead of taking a fault that nobody would ever meet."""
    answer = world.http.post("/_faults", json={"target": target, "fault": "html"})
    assert answer.status_code == 422
    assert f"no {target} yet" in answer.json()["error"]["message"]


def test_a_fault_must_be_a_json_object(world: World) -> None:
    """A list of faults is no fault."""
    assert world.http.post("/_faults", json=[]).status_code == 400
