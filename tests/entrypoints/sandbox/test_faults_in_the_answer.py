"""Faults of the answer: it arrives, but it is a refusal, or it is not to be believed."""

import json

import pytest

from tests.entrypoints.sandbox.world import Parcel, World


@pytest.mark.parametrize("status", [400, 404, 408, 422, 429, 499, 500, 502, 503, 599])
def test_a_scripted_status_does_nothing_and_stays_under_no_key(world: World, parcel: Parcel, status: int) -> None:
    """The carrier answers with an error, books nothing, and the same key books afterwards."""
    world.script(f"status_{status}", parcel.order_id)
    answer = world.book(parcel)
    assert answer.status_code == status
    assert answer.json()["error"].keys() == {"code", "message"}
    assert "Retry-After" not in answer.headers
    assert world.ledger(parcel) == []
    world.booked(parcel)


def test_a_scripted_409_says_that_a_request_still_runs(world: World, parcel: Parcel) -> None:
    """409 is worded as the carrier words it, though nothing runs."""
    world.script("status_409", parcel.order_id)
    answer = world.book(parcel)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "in_progress")
    assert world.ledger(parcel) == []


@pytest.mark.parametrize("status", [200, 204, 409, 500, 502])
def test_a_status_after_hides_a_booking(world: World, parcel: Parcel, status: int) -> None:
    """The booking is committed, the answer does not say so, and the same key tells the truth."""
    world.script(f"status_{status}_after", parcel.order_id)
    assert world.book(parcel).status_code == status
    assert len(world.ledger(parcel)) == 1
    assert world.booked(parcel)["reference"] == world.ledger(parcel)[0]["reference"]
    assert len(world.ledger(parcel)) == 1


def test_a_502_after_commit_books_again_where_keys_are_not_honoured(keyless_world: World, parcel: Parcel) -> None:
    """Repeating after an unknown outcome is what makes two parcels of one."""
    keyless_world.script("status_502_after", parcel.order_id)
    assert keyless_world.book(parcel).status_code == 502
    keyless_world.booked(parcel)
    assert len(keyless_world.ledger(parcel)) == 2
    assert len(keyless_world.found(parcel)) == 2


@pytest.mark.parametrize(
    "text", ["60", "Wed, 21 Oct 2026 07:28:00 GMT", "Wed Oct 21 07:28:00 2026", "0.493", "-5", "999999999", "soon"]
)
def test_retry_after_is_sent_as_scripted(world: World, parcel: Parcel, text: str) -> None:
    """429 carries the header in whatever form a carrier might write it, and nothing was booked."""
    world.script(f"retry_after_{text}", parcel.order_id)
    answer = world.book(parcel)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, text)
    assert world.ledger(parcel) == []


def test_retry_after_may_come_twice(world: World, parcel: Parcel) -> None:
    """Each line of the scripted text is a header of its own."""
    world.script("retry_after_60\n120", parcel.order_id)
    assert world.book(parcel).headers.get_list("Retry-After") == ["60", "120"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_points_elsewhere_and_books_nothing(world: World, parcel: Parcel, status: int) -> None:
    """A POST that is sent away has done nothing, and who does not follow is not seen elsewhere."""
    world.script(f"redirect_{status}", parcel.order_id)
    answer = world.book(parcel)
    assert (answer.status_code, answer.headers["Location"]) == (status, "/_elsewhere")
    assert world.ledger(parcel) == []
    followers = world.http.get("/_requests", params={"target": "elsewhere"}).json()["requests"]
    assert parcel.key not in [row["key"] for row in followers]


def test_who_follows_a_redirect_is_seen(world: World, parcel: Parcel) -> None:
    """A client that carries its POST elsewhere is given away by the record."""
    answer = world.http.post("/_elsewhere", headers={"Idempotency-Key": parcel.key})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html")
    followers = world.http.get("/_requests", params={"target": "elsewhere", "method": "POST"}).json()["requests"]
    assert parcel.key in [row["key"] for row in followers]


def test_html_hides_a_booking(world: World, parcel: Parcel) -> None:
    """A page in place of the answer says nothing of the parcel that was booked."""
    world.script("html", parcel.order_id)
    answer = world.book(parcel)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html")
    assert len(world.ledger(parcel)) == 1


def test_maintenance_hides_a_booking(world: World, parcel: Parcel) -> None:
    """A maintenance page asks to come back later although the parcel is booked."""
    world.script("maintenance", parcel.order_id)
    answer = world.book(parcel)
    assert (answer.status_code, answer.headers["Content-Type"], answer.headers["Retry-After"]) == (
        503,
        "text/html",
        "300",
    )
    assert len(world.ledger(parcel)) == 1


def test_cut_json_is_whole_http_with_half_an_answer(world: World, parcel: Parcel) -> None:
    """The length is right, the JSON is not, and the parcel is booked."""
    world.script("cut_json", parcel.order_id)
    answer = world.book(parcel)
    assert (answer.status_code, answer.headers["Content-Type"]) == (201, "application/json")
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    with pytest.raises(json.JSONDecodeError):
        answer.json()
    assert len(world.ledger(parcel)) == 1


@pytest.mark.parametrize("text", ["{}", "[]", '{"reference":null}', '{"error":"busy"}', '{"reference":"P', "", "山"])
def test_a_scripted_body_replaces_the_answer(world: World, parcel: Parcel, text: str) -> None:
    """Any body may come with a 201, and the parcel is booked."""
    world.script(f"body_{text}", parcel.order_id)
    answer = world.book(parcel)
    assert (answer.status_code, answer.headers["Content-Type"]) == (201, "application/json")
    assert answer.content.decode() == text
    assert len(world.ledger(parcel)) == 1


def test_wrong_order_names_a_stranger(world: World, parcel: Parcel) -> None:
    """The answer is well-formed and about another order, while ours is booked."""
    world.script("wrong_order", parcel.order_id)
    answer = world.book(parcel).json()
    assert answer["order_id"] != parcel.order_id
    assert answer["client_reference"] == parcel.key
    assert [row["order_id"] for row in world.ledger(parcel)] == [parcel.order_id]


def test_bom_precedes_a_good_answer(world: World, parcel: Parcel) -> None:
    """A byte order mark stands before an answer that is right."""
    world.script("bom", parcel.order_id)
    answer = world.book(parcel)
    assert answer.content.startswith(b"\xef\xbb\xbf")
    assert json.loads(answer.content.decode("utf-8-sig"))["order_id"] == parcel.order_id
    assert len(world.ledger(parcel)) == 1
