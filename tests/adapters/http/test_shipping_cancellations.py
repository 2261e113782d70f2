"""A parcel that nobody wants any more is stopped once, or a person hears of it."""

from typing import Any

import pytest

from domain.operations import Answer, Outcome
from tests.adapters.http.conftest import OpenGateway
from tests.adapters.http.parcels import booked, cancel
from tests.adapters.http.scripted_server import Behaviour, ScriptedServer, answer, answer_json, hang_up, silence

LISTED = answer_json(200, {"shipments": [booked()]})
STOPPED = booked(status="cancelled")


def refusal(code: str) -> dict[str, Any]:
    """A no as the carrier words it."""
    return {"error": {"code": code, "message": "no"}}


def cancel_one(gateway_to: OpenGateway, *script: Behaviour) -> Answer:
    """What became of stopping one parcel; each line of the script was used once."""
    with ScriptedServer(*script) as server:
        (answered,) = gateway_to(server.url, deadline_seconds=2.0).cancel_each([cancel()])
        assert len(server.requests) == len(script)
        return answered


def test_a_cancellation_goes_to_the_parcel_that_the_carrier_names(gateway_to: OpenGateway) -> None:
    """Under its own key, with its frozen body; a reference of strange characters cannot change the address."""
    asked = cancel()
    parcels = {"shipments": [booked(reference="P/1?../x")]}
    with ScriptedServer(
        answer_json(200, parcels), answer_json(200, booked(reference="P/1?../x", status="cancelled"))
    ) as server:
        (answered,) = gateway_to(server.url).cancel_each([asked])
        look_up, post = server.requests
    assert answered == Answer(Outcome.DONE, result={"reference": "P/1?../x"})
    assert look_up.target == "/shipments?client_reference=shipment-request%3Ao-1"
    assert (post.method, post.target) == ("POST", "/shipments/P%2F1%3F..%2Fx/cancellation")
    assert post.headers["idempotency-key"] == "shipment-cancel:o-1"
    assert post.body == asked.request.encode()


def test_a_parcel_that_has_left_is_for_a_person(gateway_to: OpenGateway) -> None:
    """Somebody has to call it back or to write to the customer."""
    answered = cancel_one(gateway_to, LISTED, answer_json(409, refusal("too_late")))
    assert answered == Answer(Outcome.FLAGGED, "too late: the parcel has left")


@pytest.mark.parametrize(
    ("status", "code"), [(400, "bad"), (404, "unknown_shipment"), (409, "in_dispute"), (422, "idempotency_mismatch")]
)
def test_a_definite_no_is_for_a_person(gateway_to: OpenGateway, status: int, code: str) -> None:
    """The parcel is on its way to somebody who does not want it; that is never quietly final."""
    answered = cancel_one(gateway_to, LISTED, answer_json(status, refusal(code)))
    assert answered == Answer(Outcome.FLAGGED, f"the carrier does not stop it: {status} {code}: no")


@pytest.mark.parametrize(
    "behaviour",
    [
        answer_json(200, booked()),
        answer_json(200, booked(status="cancelled", reference="P-00000002")),
        answer_json(200, booked(status="cancelled", client_reference="shipment-request:o-1:2")),
        answer_json(202, STOPPED),
        answer(200, "<html>", "text/html"),
        answer(409, "<html>", "text/html"),
        answer_json(408, refusal("slow")),
        answer_json(307, STOPPED, "Location: /elsewhere"),
        hang_up,
        silence,
    ],
)
def test_an_answer_that_does_not_say_cancelled_leaves_the_fate_unknown(
    gateway_to: OpenGateway, behaviour: Behaviour
) -> None:
    """It is looked up before anything else happens."""
    answered = cancel_one(gateway_to, LISTED, behaviour)
    assert (answered.outcome, answered.result) == (Outcome.UNKNOWN, {})


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        (answer_json(409, refusal("in_progress")), Outcome.RUNNING),
        (answer_json(401, refusal("unauthorised")), Outcome.NOT_SENT),
        (answer_json(429, refusal("busy"), "Retry-After: 60"), Outcome.THROTTLED),
        (answer_json(503, refusal("busy"), "Retry-After: 60"), Outcome.UNAVAILABLE),
        (answer_json(200, booked(status="cancelled", order_id="o-2")), Outcome.FLAGGED),
    ],
)
def test_every_other_answer_means_what_it_means_for_a_request(
    gateway_to: OpenGateway, behaviour: Behaviour, outcome: Outcome
) -> None:
    """One way to read a carrier."""
    assert cancel_one(gateway_to, LISTED, behaviour).outcome is outcome


@pytest.mark.parametrize(
    "behaviour",
    [
        answer_json(503, {}, "Retry-After: 60"),
        answer_json(401, refusal("unauthorised")),
        answer(200, "<html>", "text/html"),
        answer_json(200, {"shipments": [booked(client_reference=None)]}),
        answer_json(200, {"shipments": [booked(reference=None, status="in_progress")]}),
        hang_up,
        silence,
    ],
)
def test_nothing_is_sent_to_stop_a_parcel_that_cannot_be_looked_up(
    gateway_to: OpenGateway, behaviour: Behaviour
) -> None:
    """Asking for its reference changes nothing at the carrier, so the attempt is given back."""
    answered = cancel_one(gateway_to, behaviour)
    assert (answered.outcome, answered.result) == (Outcome.NOT_SENT, {})
    assert answered.reason


def test_a_busy_look_up_says_when_to_come_back(gateway_to: OpenGateway) -> None:
    """The carrier's wish holds whichever call it answers."""
    assert cancel_one(gateway_to, answer_json(429, {}, "Retry-After: 60")).retry_after_seconds == 60.0


@pytest.mark.parametrize(
    ("parcels", "reason"),
    [
        ([], "the carrier does not know this parcel"),
        ([booked(order_id="o-2")], "the carrier answered for order o-2 when asked for o-1"),
        (
            [booked(), booked(reference="P-00000002")],
            "at the carrier: P-00000001 booked, P-00000002 booked",
        ),
    ],
)
def test_a_parcel_that_is_not_the_one_we_know_is_for_a_person(
    gateway_to: OpenGateway, parcels: list[Any], reason: str
) -> None:
    """No retry finds it, and none may stop the wrong one."""
    answered = cancel_one(gateway_to, answer_json(200, {"shipments": parcels}))
    assert answered == Answer(Outcome.FLAGGED, reason)
