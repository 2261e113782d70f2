"""The carrier as an honest provider: bookings, look-ups, cancellations."""

from typing import Any

import httpx
import pytest

from tests.entrypoints.sandbox.world import Parcel, World


def test_a_booking_happens_and_is_found_by_its_reference(world: World, parcel: Parcel) -> None:
    """What the carrier answers is what the look-up and the ledger say."""
    shipment = world.booked(parcel)
    assert shipment == {
        "reference": shipment["reference"],
        "client_reference": parcel.key,
        "order_id": parcel.order_id,
        "status": "booked",
    }
    assert shipment["reference"].startswith("P-")
    assert world.found(parcel) == [shipment]
    row = {"key": parcel.key, "order_id": parcel.order_id, "reference": shipment["reference"], "status": "booked"}
    assert world.ledger(parcel) == [row]


def test_what_was_never_booked_is_not_found(world: World, parcel: Parcel) -> None:
    """An empty list, not an error, says that the carrier knows nothing of a reference."""
    assert world.found(parcel) == []


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/shipments", "POST"),
        ("/shipments?client_reference=k", "GET"),
        ("/shipments/P-1/cancellation", "POST"),
        ("/shipment-commands/c-1", "GET"),
    ],
)
@pytest.mark.parametrize("authorization", [None, "Bearer", "Basic dTpw"])
def test_nobody_is_served_without_a_token(world: World, path: str, method: str, authorization: str | None) -> None:
    """Every door of the carrier asks for a bearer token."""
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = httpx.request(method, world.url + path, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorised")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("client_reference", ""),
        ("client_reference", 7),
        ("order_id", None),
        ("number", 0),
        ("number", True),
        ("number", "1"),
        ("ship_to", "Tokyo"),
    ],
)
def test_a_bad_field_is_refused_by_name(world: World, parcel: Parcel, field: str, value: Any) -> None:
    """A refused booking names its field, books nothing and leaves the key free."""
    answer = world.book(parcel, **{field: value})
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert world.ledger(parcel) == []
    world.booked(parcel)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(world: World, body: bytes) -> None:
    """Broken JSON is answered with 400, never with a crash."""
    answer = world.http.post("/shipments", content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "malformed_json")


def test_a_look_up_needs_a_reference(world: World) -> None:
    """Nobody gets the list of all shipments by leaving the reference out."""
    answer = world.http.get("/shipments")
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "client_reference")


def test_a_parcel_is_called_back_once_and_again(world: World, parcel: Parcel) -> None:
    """Cancelling a cancelled shipment answers the same shipment, with the same key and with another one."""
    reference = world.booked(parcel)["reference"]
    first = world.cancel(parcel, reference)
    again = world.cancel(parcel, reference)
    other_key = world.http.post(f"/shipments/{reference}/cancellation", json={"client_reference": "by-hand"})
    assert (first.status_code, first.json()["status"]) == (200, "cancelled")
    assert again.content == first.content
    assert other_key.content == first.content
    assert world.ledger(parcel)[0]["status"] == "cancelled"
    assert world.found(parcel)[0]["status"] == "cancelled"


def test_a_parcel_that_has_left_cannot_be_called_back(world: World, parcel: Parcel) -> None:
    """Too late is a definite no, and the parcel stays on its way."""
    reference = world.booked(parcel)["reference"]
    assert world.http.post(f"/_shipments/{reference}/leave").json()["status"] == "left"
    answer = world.cancel(parcel, reference)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "too_late")
    assert world.ledger(parcel)[0]["status"] == "left"


def test_an_unknown_parcel_cannot_be_called_back_nor_leave(world: World, parcel: Parcel) -> None:
    """A reference the carrier never gave out is unknown to it."""
    answer = world.cancel(parcel, "P-99999999")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_shipment")
    assert world.http.post("/_shipments/P-99999999/leave").status_code == 404


def test_a_cancelled_parcel_does_not_leave(world: World, parcel: Parcel) -> None:
    """What was called back stays where it is."""
    reference = world.booked(parcel)["reference"]
    world.cancel(parcel, reference)
    assert world.http.post(f"/_shipments/{reference}/leave").status_code == 409
    assert world.ledger(parcel)[0]["status"] == "cancelled"


def test_an_unknown_command_is_said_to_be_unknown(world: World) -> None:
    """Polling something that was never accepted is a definite no."""
    answer = world.http.get("/shipment-commands/c-99999999")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_command")
