"""Look-ups by our key decide what becomes of lost answers, so "not found" is said only when the carrier says so."""

from typing import Any

import pytest

from domain.operations import Finding, LookUp
from tests.adapters.http.conftest import OpenGateway
from tests.adapters.http.parcels import booked, cancel, parcel
from tests.adapters.http.scripted_server import Behaviour, ScriptedServer, answer, answer_json, hang_up, reset, silence

FOUND = LookUp(Finding.FOUND, result={"reference": "P-00000001"})
RUNNING_PARCEL = booked(reference=None, status="in_progress")


def listed(*parcels: Any) -> Behaviour:
    """The carrier's list of parcels under one key."""
    return answer_json(200, {"shipments": list(parcels)})


def command(status: str, shipment: Any = None, command_id: str = "c-1") -> Behaviour:
    """What the carrier says of one accepted command."""
    return answer_json(200, {"command_id": command_id, "status": status, "shipment": shipment})


def look_up_one(gateway_to: OpenGateway, *script: Behaviour, command_id: str | None = None) -> LookUp:
    """What became of one parcel."""
    with ScriptedServer(*script) as server:
        (found,) = gateway_to(server.url, deadline_seconds=2.0).look_up_each([parcel(command_id=command_id)])
        assert len(server.requests) == len(script)
        return found


def test_a_parcel_is_looked_up_by_its_key(gateway_to: OpenGateway) -> None:
    """The key is percent-encoded once more, since it holds percent signs itself."""
    asked = parcel("注文 1/2?&#", 2)
    with ScriptedServer(listed()) as server:
        gateway_to(server.url).look_up_each([asked])
        (request,) = server.requests
    key = "shipment-request%3A%25E6%25B3%25A8%25E6%2596%2587%25201%252F2%253F%2526%2523%3A2"
    assert (request.method, request.target) == ("GET", f"/shipments?client_reference={key}")
    assert "idempotency-key" not in request.headers


@pytest.mark.parametrize("status", ["booked", "left", "cancelled"])
def test_a_parcel_that_was_booked_is_found_whatever_became_of_it(gateway_to: OpenGateway, status: str) -> None:
    """The question is whether our request was done; it was."""
    assert look_up_one(gateway_to, listed(booked(status=status))) == FOUND


def test_a_parcel_still_being_booked_is_running(gateway_to: OpenGateway) -> None:
    """It is waited for, not asked for again."""
    assert look_up_one(gateway_to, listed(RUNNING_PARCEL)).finding is Finding.RUNNING


def test_an_empty_list_is_not_found(gateway_to: OpenGateway) -> None:
    """Only this permits sending again."""
    assert look_up_one(gateway_to, listed()).finding is Finding.NOT_FOUND


def test_a_parcel_booked_twice_is_found_and_both_are_named(gateway_to: OpenGateway) -> None:
    """A carrier without keys may do that; the one that is not cancelled counts, and the reason tells of the other."""
    found = look_up_one(gateway_to, listed(booked(status="cancelled"), booked(reference="P-00000002")))
    assert found == LookUp(
        Finding.FOUND, "at the carrier: P-00000001 cancelled, P-00000002 booked", {"reference": "P-00000002"}
    )


NO_ANSWER = {
    "a page": answer(200, "<html>", "text/html"),
    "no list": answer_json(200, {}),
    "a bare list": answer_json(200, []),
    "null for a list": answer_json(200, {"shipments": None}),
    "a cut list": answer(200, '{"shipments":['),
    "an empty list with 202": answer_json(202, {"shipments": []}),
    "an empty list with 404": answer_json(404, {"shipments": []}),
    "404": answer_json(404, {"error": {"code": "not_found", "message": ""}}),
    "401": answer_json(401, {"error": {"code": "unauthorised", "message": ""}}),
    "429": answer_json(429, {"error": {"code": "busy", "message": ""}}),
    "503": answer_json(503, {"error": {"code": "busy", "message": ""}}),
    "a redirect": answer_json(302, {"shipments": []}, "Location: /elsewhere"),
    "another key": listed(booked(client_reference="shipment-request:o-1:2")),
    "ours among others": listed(booked(), booked(client_reference="shipment-request:o-1:2")),
    "an unknown status": listed(booked(status="queued")),
    "booked without a reference": listed(booked(reference=None)),
    "nonsense in the list": listed(None),
    "FIN": hang_up,
    "reset": reset,
    "silence": silence,
}


@pytest.mark.parametrize("behaviour", NO_ANSWER.values(), ids=NO_ANSWER.keys())
def test_whatever_else_comes_is_no_answer(gateway_to: OpenGateway, behaviour: Behaviour) -> None:
    """Neither found nor not found: it is looked up again later."""
    found = look_up_one(gateway_to, behaviour)
    assert (found.finding, found.result) == (Finding.NO_ANSWER, {})
    assert found.reason


def test_an_accepted_parcel_is_looked_up_by_its_command(gateway_to: OpenGateway) -> None:
    """Report B40: polled by command id, whose strange characters cannot change the address."""
    with ScriptedServer(command("in_progress", command_id="c/1?")) as server:
        (found,) = gateway_to(server.url).look_up_each([parcel(command_id="c/1?")])
        assert server.requests[0].target == "/shipment-commands/c%2F1%3F"
    assert found == LookUp(Finding.RUNNING, "accepted", {"command_id": "c/1?"})


def test_a_command_that_is_done_gives_its_parcel(gateway_to: OpenGateway) -> None:
    """The parcel in it is ours."""
    assert look_up_one(gateway_to, command("done", booked()), command_id="c-1") == FOUND


@pytest.mark.parametrize(
    "behaviour",
    [
        command("queued"),
        command("done"),
        command("done", booked(status="queued")),
        command("in_progress", command_id="c-2"),
        answer_json(404, {"error": {"code": "unknown_command", "message": ""}}),
        answer(200, "<html>", "text/html"),
        hang_up,
    ],
)
def test_a_command_that_tells_nothing_sends_us_to_the_list(gateway_to: OpenGateway, behaviour: Behaviour) -> None:
    """The list is the carrier's last word."""
    assert look_up_one(gateway_to, behaviour, listed(booked()), command_id="c-1") == FOUND
    assert look_up_one(gateway_to, behaviour, listed(), command_id="c-1").finding is Finding.NOT_FOUND


@pytest.mark.parametrize(
    ("behaviour", "command_id"),
    [(command("done", booked(order_id="o-2")), "c-1"), (listed(booked(order_id="o-2")), None)],
)
def test_the_parcel_of_another_order_is_for_a_person(
    gateway_to: OpenGateway, behaviour: Behaviour, command_id: str | None
) -> None:
    """Something is mixed up; asking again would not mend it."""
    found = look_up_one(gateway_to, behaviour, command_id=command_id)
    assert found == LookUp(Finding.FLAGGED, "the carrier answered for order o-2 when asked for o-1")


def test_a_command_that_failed_is_a_definite_no(gateway_to: OpenGateway) -> None:
    """Sent again under its key it would only be told of the same command."""
    found = look_up_one(gateway_to, command("failed"), command_id="c-1")
    assert found == LookUp(Finding.REFUSED, "the carrier accepted it, but could not book it")


@pytest.mark.parametrize(
    ("behaviour", "finding"),
    [
        (listed(booked(status="cancelled")), Finding.FOUND),
        (listed(booked()), Finding.NOT_FOUND),
        (listed(booked(status="left")), Finding.NOT_FOUND),
        (listed(booked(status="cancelled"), booked(reference="P-00000002")), Finding.NOT_FOUND),
        (listed(RUNNING_PARCEL), Finding.NOT_FOUND),
        (listed(), Finding.NOT_FOUND),
        (listed(booked(status="cancelled", order_id="o-2")), Finding.NO_ANSWER),
        (answer_json(503, {}), Finding.NO_ANSWER),
        (hang_up, Finding.NO_ANSWER),
    ],
)
def test_a_cancellation_is_found_when_the_parcel_is_cancelled(
    gateway_to: OpenGateway, behaviour: Behaviour, finding: Finding
) -> None:
    """Looked up by the key of the parcel, as the cancellation has no reference of its own."""
    with ScriptedServer(behaviour) as server:
        (found,) = gateway_to(server.url).look_up_cancelled_each([cancel()])
        assert [request.target for request in server.requests] == ["/shipments?client_reference=shipment-request%3Ao-1"]
    assert found.finding is finding
    assert found.result == ({"reference": "P-00000001"} if finding is Finding.FOUND else {})
