"""Reports B44 and B45: an answer to a request for a parcel counts only if it is whole, JSON, and about that parcel."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.calls.replies import Reply
from adapters.http.shipping_answers import CarriersParcel, called_back, taken_on
from domain.canonical import canonical_json
from domain.operations import Answer, Outcome
from tests.adapters.http.conftest import MAX_RETRY_AFTER_SECONDS, TOKEN, OpenGateway
from tests.adapters.http.parcels import booked, parcel
from tests.adapters.http.scripted_server import Behaviour, ScriptedServer, answer, answer_json

PAGE = "<!doctype html><html><title>Maintenance</title></html>"
DONE = Answer(Outcome.DONE, result={"reference": "P-00000001"})
ACCEPTED = {
    "command_id": "c-1",
    "client_reference": "shipment-request:o-1",
    "order_id": "o-1",
    "status": "in_progress",
}


def refusal(code: str = "invalid_request", message: str = "no such country") -> dict[str, Any]:
    """A no as the carrier words it."""
    return {"error": {"code": code, "message": message}}


def request_one(gateway_to: OpenGateway, behaviour: Behaviour) -> Answer:
    """The answer for one parcel asked for, once."""
    with ScriptedServer(behaviour) as server:
        (answered,) = gateway_to(server.url).request_each([parcel()])
        assert len(server.requests) == 1
        return answered


def test_the_frozen_request_goes_out_byte_for_byte_under_its_key(gateway_to: OpenGateway) -> None:
    """Same key, same bytes, each time: whatever else the order id and the address hold."""
    asked = parcel("注文 1/2?&#", 2)
    with ScriptedServer(answer_json(500, {})) as server:
        gateway_to(server.url).request_each([asked])
        (request,) = server.requests
    assert (request.method, request.target) == ("POST", "/shipments")
    assert request.body == asked.request.encode()
    assert request.body == canonical_json(json.loads(request.body)).encode()
    assert request.headers["idempotency-key"] == asked.key == "shipment-request:%E6%B3%A8%E6%96%87%201%2F2%3F%26%23:2"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["content-type"] == "application/json"


def test_a_carrier_below_a_path_is_reached_there(gateway_to: OpenGateway) -> None:
    """`CARRIER_URL` may carry a path, with or without a slash at its end."""
    with ScriptedServer(answer_json(201, booked())) as server:
        assert gateway_to(f"{server.url}/api/v1/").request_each([parcel()]) == [DONE]
        assert server.requests[0].target == "/api/v1/shipments"


def test_no_proxy_of_the_environment_comes_between(gateway_to: OpenGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would see the token, and its answers would be taken for the carrier's."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert request_one(gateway_to, answer_json(201, booked())) == DONE


@pytest.mark.parametrize("status", [200, 201])
@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON; charset=utf-8", "application/hal+json"]
)
def test_a_booked_parcel_is_done(gateway_to: OpenGateway, status: int, content_type: str) -> None:
    """The carrier's reference is kept."""
    assert request_one(gateway_to, answer(status, json.dumps(booked(more=[1, 2.5])), content_type)) == DONE


def test_an_accepted_parcel_is_still_running_under_its_command(gateway_to: OpenGateway) -> None:
    """Report B40: asynchronous acceptance is polled by its command, not asked for again."""
    answered = request_one(gateway_to, answer_json(202, ACCEPTED, "Retry-After: 5"))
    assert (answered.outcome, answered.result) == (Outcome.RUNNING, {"command_id": "c-1"})
    assert answered.retry_after_seconds == 5.0


UNBELIEVABLE = {
    "a page with 200": answer(200, PAGE, "text/html"),
    "a page that calls itself JSON": answer(200, PAGE),
    "JSON that calls itself a page": answer(200, json.dumps(booked()), "text/html"),
    "JSON of no type": answer(200, json.dumps(booked()), None),
    "cut JSON": answer(200, '{"shipment_id":"SH'),
    "an empty object": answer(200, "{}"),
    "an empty list": answer(200, "[]"),
    "a list of parcels": answer_json(200, [booked()]),
    "another shape": answer_json(200, {"shipment_id": None}),
    "an error with 200": answer_json(200, {"error": "busy"}),
    "204": answer(204, b"", None),
    "an empty body": answer(201, ""),
    "a byte order mark": answer(200, b"\xef\xbb\xbf" + json.dumps(booked()).encode()),
    "UTF-16": answer(200, json.dumps(booked()).encode("utf-16")),
    "packed though not asked for": answer(201, b"\x1f\x8b\x08\x00", "application/json", "Content-Encoding: gzip"),
    "one member twice": answer(201, json.dumps(booked())[:-1] + ',"reference":"P-2"}'),
    "too deep": answer(201, "[" * 100_000),
    "another key": answer_json(201, booked(client_reference="shipment-request:o-1:2")),
    "no key": answer_json(201, booked(client_reference=None)),
    "no order": answer_json(201, booked(order_id=None)),
    "a number for an order": answer_json(201, booked(order_id=1)),
    "no reference": answer_json(201, booked(reference=None)),
    "a number for a reference": answer_json(201, booked(reference=1)),
    "an empty reference": answer_json(201, booked(reference="")),
    "a reference nobody can store": answer_json(201, booked(reference="P-\u0000")),
    "half a character for a reference": answer_json(201, booked(reference="P-\ud800")),
    "an endless reference": answer_json(201, booked(reference="P" * 256)),
    "another status": answer_json(201, booked(status="queued")),
    "a parcel that was cancelled": answer_json(201, booked(status="cancelled")),
    "still running with 200": answer_json(200, booked(status="in_progress", reference=None)),
    "accepted under no command": answer_json(202, ACCEPTED | {"command_id": None}),
    "accepted for another key": answer_json(202, ACCEPTED | {"client_reference": "shipment-request:o-1:2"}),
    "accepted with a page": answer(202, PAGE, "text/html"),
    "another success": answer_json(206, booked()),
}


@pytest.mark.parametrize("behaviour", UNBELIEVABLE.values(), ids=UNBELIEVABLE.keys())
def test_a_success_that_cannot_be_believed_leaves_the_fate_unknown(
    gateway_to: OpenGateway, behaviour: Behaviour
) -> None:
    """Never booked without reading, never refused either; people see status and type."""
    answered = request_one(gateway_to, behaviour)
    assert (answered.outcome, answered.result) == (Outcome.UNKNOWN, {})
    assert "20" in answered.reason


@pytest.mark.parametrize("content", [booked(order_id="o-2"), ACCEPTED | {"order_id": "o-2"}, booked("o-2")])
def test_an_answer_for_another_order_is_for_a_person(gateway_to: OpenGateway, content: dict[str, Any]) -> None:
    """Something is mixed up at the carrier; no retry sets that right."""
    answered = request_one(gateway_to, answer_json(202 if "command_id" in content else 201, content))
    assert answered == Answer(Outcome.FLAGGED, "the carrier answered for order o-2 when asked for o-1")


@pytest.mark.parametrize("status", [400, 402, 404, 405, 406, 410, 411, 413, 414, 415, 422, 428, 451])
def test_a_definite_no_is_a_refusal_with_its_code_and_message(gateway_to: OpenGateway, status: int) -> None:
    """The same request would be refused for ever."""
    answered = request_one(gateway_to, answer_json(status, refusal()))
    assert answered == Answer(Outcome.REFUSED, f"{status} invalid_request: no such country")


@pytest.mark.parametrize("status", [400, 403, 404, 405, 408, 409, 410, 413, 418, 422, 423, 425, 499])
@pytest.mark.parametrize(
    ("body", "content_type"),
    [(PAGE, "text/html"), ("", None), ("{}", "application/json"), ('{"error":"busy"}', "application/json")],
)
def test_a_4xx_in_which_the_carrier_does_not_speak_itself_leaves_the_fate_unknown(
    gateway_to: OpenGateway, status: int, body: str, content_type: str | None
) -> None:
    """A proxy's page may replace the answer of a carrier that has booked."""
    assert request_one(gateway_to, answer(status, body, content_type)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("status", [408, 409, 423, 425])
def test_a_no_for_now_leaves_the_fate_unknown(gateway_to: OpenGateway, status: int) -> None:
    """It does not say what became of the request, or of the one before."""
    answered = request_one(gateway_to, answer_json(status, refusal("busy", "try later")))
    assert answered == Answer(Outcome.UNKNOWN, f"{status} busy: try later")


def test_our_own_earlier_request_still_running_is_waited_for(gateway_to: OpenGateway) -> None:
    """Trap 22: a 409 that says so is no failure."""
    answered = request_one(gateway_to, answer_json(409, refusal("in_progress", "still runs"), "Retry-After: 2"))
    assert answered == Answer(Outcome.RUNNING, "409 in_progress: still runs", retry_after_seconds=2.0)


def test_a_key_known_with_other_content_is_for_a_person(gateway_to: OpenGateway) -> None:
    """Trap 17: never retried, never replayed."""
    answered = request_one(gateway_to, answer_json(422, refusal("idempotency_mismatch", "other body")))
    assert answered.outcome is Outcome.FLAGGED
    assert "idempotency_mismatch: other body" in answered.reason


@pytest.mark.parametrize(
    "behaviour",
    [
        answer_json(401, refusal("unauthorised", "bad token")),
        answer(401, "", None, 'WWW-Authenticate: Bearer realm="carrier"'),
        answer_json(403, refusal("forbidden", "bad token")),
        answer(407, PAGE, "text/html"),
    ],
)
def test_a_wrong_token_refuses_no_parcel(gateway_to: OpenGateway, behaviour: Behaviour) -> None:
    """Trap 20: nothing was done, and it is ours to set right; until then the parcels wait."""
    answered = request_one(gateway_to, behaviour)
    assert answered.outcome is Outcome.NOT_SENT
    assert answered.reason.startswith("the carrier does not accept our credentials")


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
@pytest.mark.parametrize(("body", "content_type"), [(PAGE, "text/html"), (json.dumps(refusal()), "application/json")])
def test_a_busy_or_broken_carrier_says_when_to_come_back(
    gateway_to: OpenGateway, status: int, body: str, content_type: str
) -> None:
    """429 is surely not taken, 5xx may be; both may name a time."""
    answered = request_one(gateway_to, answer(status, body, content_type, "Retry-After: 300"))
    assert answered.outcome is (Outcome.THROTTLED if status == 429 else Outcome.UNAVAILABLE)
    assert answered.retry_after_seconds == 300.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (["60"], 60.0),
        (["Wed, 21 Oct 2026 07:28:00 GMT"], 60.0),
        (["Wednesday, 21-Oct-26 07:28:00 GMT"], 60.0),
        (["Wed Oct 21 07:28:00 2026"], 60.0),
        (["0.493"], 0.493),
        (["-5"], 0.0),
        (["999999999"], MAX_RETRY_AFTER_SECONDS),
        (["soon"], None),
        ([], None),
        (["soon", "120"], 120.0),
        (["120", "60"], 120.0),
    ],
)
def test_every_form_of_retry_after_is_read_from_the_wire(
    gateway_to: OpenGateway, headers: list[str], seconds: float | None
) -> None:
    """Report B45, two headers included."""
    lines = [f"Retry-After: {header}" for header in headers]
    answered = request_one(gateway_to, answer_json(429, refusal("too_many_requests", "slow down"), *lines))
    assert answered == Answer(Outcome.THROTTLED, "429 too_many_requests: slow down", retry_after_seconds=seconds)


def test_a_reason_is_one_short_clean_line_without_our_token(gateway_to: OpenGateway) -> None:
    """It is stored, logged and shown to people."""
    message = f"Bearer {TOKEN}\r\n\u0000\u202e is\twrong \ud800 " + "x" * 5000
    answered = request_one(gateway_to, answer_json(400, refusal("bad", message)))
    assert answered.outcome is Outcome.REFUSED
    assert answered.reason.startswith("400 bad: Bearer … is wrong xxx")
    assert answered.reason.isprintable()
    assert len(answered.reason) == 200


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["o-1", "shipment-request:o-1", "booked"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*booked(), *ACCEPTED, "error", "code", "message"]), inner, max_size=6)
    ),
    max_leaves=12,
)


@given(
    status=st.integers(100, 999), body=st.binary(max_size=30) | JSON.map(lambda content: json.dumps(content).encode())
)
def test_no_answer_whatever_stops_the_gateway_or_books_by_accident(status: int, body: bytes) -> None:
    """Each has an outcome; done needs a reference, running by command its id."""
    reply = Reply(status, "application/json", body)
    asked = taken_on(reply, key="shipment-request:o-1", order_id="o-1")
    stopped = called_back(reply, parcel=CarriersParcel("P-1", "booked"), key="shipment-request:o-1", order_id="o-1")
    assert (asked.outcome is Outcome.DONE) == ("reference" in asked.result)
    assert asked.outcome is not Outcome.DONE or status in (200, 201)
    assert (stopped.outcome is Outcome.DONE) == (stopped.result == {"reference": "P-1"})
