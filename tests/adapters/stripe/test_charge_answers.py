"""Trap 22, reports B15, B22, B44 and B45: what the provider's answer to a charge means, believed if it fits."""

import gzip
import json
from typing import Any
from urllib.parse import parse_qsl

import pytest

from domain.money import Money
from domain.operations import Answer, Outcome
from tests.adapters.http.scripted_server import Behaviour, ScriptedServer, answer, answer_json, bytes_then, hang_up
from tests.adapters.stripe.conftest import API_KEY, OpenGateway
from tests.adapters.stripe.operations import INTENT, charge, error, intent

KEY = charge().key
STANDING = {"reference": INTENT, "status": "succeeded"}


def answered_with(gateway_to: OpenGateway, behaviour: Behaviour) -> Answer:
    """What one charge comes to, asked for once."""
    with ScriptedServer(behaviour) as server:
        (answered,) = gateway_to(server.url).charge_each([charge()])
        assert len(server.requests) == 1
    assert len(answered.reason) <= 200
    assert answered.reason.isprintable()
    return answered


def test_the_frozen_request_is_all_that_is_sent(gateway_to: OpenGateway) -> None:
    """Exactly these fields, under our key, and nothing about this machine."""
    with ScriptedServer(answer_json(200, intent())) as server:
        gateway_to(server.url).charge_each([charge(payment_customer="cus_1")])
    (request,) = server.requests
    assert (request.method, request.target) == ("POST", "/v1/payment_intents")
    assert parse_qsl(request.body.decode("ascii")) == [
        ("amount", "9899"),
        ("currency", "jpy"),
        ("payment_method", "pm_card_visa"),
        ("confirm", "true"),
        ("off_session", "true"),
        ("payment_method_types[0]", "card"),
        ("metadata[ikkai_key]", KEY),
        ("metadata[customer_id]", "c-1"),
        ("metadata[month]", "2026-09"),
        ("metadata[bill]", "2026-000017"),
        ("customer", "cus_1"),
    ]
    assert request.headers["idempotency-key"] == KEY
    assert request.headers["authorization"] == f"Bearer {API_KEY}"
    assert request.headers["stripe-version"] == "2026-07-29.dahlia"
    assert "x-stripe-client-telemetry" not in request.headers
    assert "telemetry" not in request.headers["x-stripe-client-user-agent"]


def test_a_charge_is_resent_byte_for_byte(gateway_to: OpenGateway) -> None:
    """B22: by another process's gateway, too; a key is good for the same bytes only."""
    with ScriptedServer(answer_json(500, error("api_error")), answer_json(200, intent())) as server:
        for _ in range(2):
            gateway_to(server.url).charge_each([charge("会員 1", payment_customer="cus_1")])
    first, second = server.requests
    assert (first.target, first.headers["idempotency-key"], first.body) == (
        second.target,
        second.headers["idempotency-key"],
        second.body,
    )


@pytest.mark.parametrize(
    "money", [Money(9899, "JPY"), Money(1799, "USD"), Money(1234, "KWD"), Money(29, "USD")], ids=str
)
def test_amounts_are_sent_in_minor_units_and_never_changed(gateway_to: OpenGateway, money: Money) -> None:
    """B18: no float, no factor of a hundred."""
    asked = charge(money=money)
    with ScriptedServer(answer_json(200, intent(asked))) as server:
        assert gateway_to(server.url).charge_each([asked])[0].outcome is Outcome.DONE
    sent = dict(parse_qsl(server.requests[0].body.decode()))
    assert (sent["amount"], sent["currency"]) == (str(money.amount), money.currency.lower())


def test_a_paid_intent_is_done(gateway_to: OpenGateway) -> None:
    """With its id and status; whether the amount received is told or not."""
    assert answered_with(gateway_to, answer_json(200, intent())) == Answer(Outcome.DONE, result=STANDING)
    untold = answer_json(200, intent(amount_received=None))
    assert answered_with(gateway_to, untold) == Answer(Outcome.DONE, result=STANDING)


@pytest.mark.parametrize(
    ("status", "outcome", "keeps_result"),
    [
        ("processing", Outcome.RUNNING, True),
        ("requires_action", Outcome.REFUSED, True),
        ("requires_payment_method", Outcome.RUNNING, True),
        ("canceled", Outcome.REFUSED, True),
        ("requires_capture", Outcome.FLAGGED, True),
        ("requires_confirmation", Outcome.RUNNING, True),
        ("gone_fishing", Outcome.FLAGGED, True),
    ],
)
def test_an_intent_that_is_not_paid_is_sorted_by_its_status(
    gateway_to: OpenGateway, status: str, outcome: Outcome, keeps_result: bool
) -> None:
    """Nothing is declined until an error says so; what we never ask for, a person must see."""
    answered = answered_with(gateway_to, answer_json(200, intent(status=status, amount_received=0)))
    assert answered.outcome is outcome
    assert answered.reason
    assert answered.result == ({"reference": INTENT, "status": status} if keeps_result else {})


@pytest.mark.parametrize(
    "other",
    [
        {"metadata": {"ikkai_key": "billing:c-2:2026-09"}},
        {"metadata": {}},
        {"amount": 989900},
        {"currency": "usd"},
        {"amount_received": 9898},
    ],
    ids=str,
)
def test_an_intent_that_is_not_ours_is_shown_to_a_person(gateway_to: OpenGateway, other: dict[str, Any]) -> None:
    """Something is mixed up; neither yes nor no may be booked. Only an intent of ours is kept, to be canceled."""
    answered = answered_with(gateway_to, answer_json(200, intent(**other)))
    assert (answered.outcome, answered.result) == (Outcome.FLAGGED, {} if "metadata" in other else STANDING)
    assert INTENT in answered.reason


NOT_BELIEVED = {
    "HTML": answer(200, "<html>maintenance</html>", "text/html"),
    "cut JSON": answer(200, '{"id": "pi_1", "object": "payment_in'),
    "empty object": answer(200, "{}"),
    "a list": answer(200, "[]"),
    "nothing": answer(200, ""),
    "a byte order mark": answer(200, b"\xef\xbb\xbf{}"),
    "no id": answer_json(200, intent(id=None)),
    "an id of two lines": answer_json(200, intent(id="pi\n1")),
    "an amount as text": answer_json(200, intent(amount="9899")),
    "an amount as a float": answer_json(200, intent(amount=9899.0)),
    "an amount that is true": answer_json(200, intent(amount=True)),
    "another object": answer_json(200, intent(object="charge")),
    "an object of no name": answer_json(200, intent(object=["payment_intent"])),
    "201": answer_json(201, intent()),
    "202": answer_json(202, intent()),
    "204": answer(204, "", None),
    "a proxy's 400": answer(400, "<html>bad request</html>", "text/html"),
    "a proxy's 401": answer(401, "who are you?", "text/plain"),
    "a proxy's 402": answer(402, "{}"),
    "a proxy's 403": answer(403, '{"error": "forbidden"}'),
    "a proxy's 404": answer(404, '{"error": {"message": "no route"}}'),
    "a proxy's 409": answer(409, "", None),
    "an odd 400": answer_json(400, error("api_error")),
    "a teapot": answer_json(418, error()),
    "a decline that is paid": answer_json(402, error("card_error", payment_intent=intent())),
    "a decline of nonsense": answer_json(402, error("card_error", payment_intent={"object": "payment_intent"})),
}


@pytest.mark.parametrize("behaviour", NOT_BELIEVED.values(), ids=NOT_BELIEVED.keys())
def test_what_is_not_the_providers_word_leaves_the_fate_unknown(gateway_to: OpenGateway, behaviour: Behaviour) -> None:
    """B44: status, type and content must all fit."""
    answered = answered_with(gateway_to, behaviour)
    assert (answered.outcome, answered.result) == (Outcome.UNKNOWN, {})
    assert answered.reason


def test_a_declined_card_is_refused_with_its_reason_and_its_intent(gateway_to: OpenGateway) -> None:
    """The intent is needed: it must be canceled before the next attempt."""
    declined = intent(status="requires_payment_method", amount_received=0)
    said = error(
        "card_error",
        code="card_declined",
        decline_code="insufficient_funds",
        message="No\nfunds.",
        payment_intent=declined,
    )
    assert answered_with(gateway_to, answer_json(402, said)) == Answer(
        Outcome.REFUSED,
        "card_declined/insufficient_funds: No funds.",
        {"reference": INTENT, "status": "requires_payment_method"},
    )


def test_a_decline_that_shows_no_intent_is_refused_all_the_same(gateway_to: OpenGateway) -> None:
    """Not every provider that speaks like Stripe shows it."""
    answered = answered_with(gateway_to, answer_json(402, error("card_error", code="expired_card")))
    assert answered == Answer(Outcome.REFUSED, "expired_card: No.")


def test_a_decline_of_another_charge_is_shown_to_a_person(gateway_to: OpenGateway) -> None:
    """Something is mixed up."""
    other = intent(charge("c-2"), status="requires_payment_method", amount_received=0)
    answered = answered_with(gateway_to, answer_json(402, error("card_error", payment_intent=other)))
    assert answered.outcome is Outcome.FLAGGED


COMPLAINTS = {
    "parameter": (400, error(code="parameter_invalid_empty", param="amount"), Outcome.REFUSED),
    "missing": (404, error(code="resource_missing", param="payment_method"), Outcome.REFUSED),
    "too small": (400, error(code="amount_too_small", param="amount"), Outcome.FLAGGED),
    "too large": (400, error(code="amount_too_large", param="amount"), Outcome.FLAGGED),
    "other content": (400, error("idempotency_error"), Outcome.FLAGGED),
    "wrong key": (401, error(message=f"Invalid API Key provided: {API_KEY}"), Outcome.NOT_SENT),
    "no right": (403, error(message=f"{API_KEY} may not do this"), Outcome.NOT_SENT),
    "in progress": (409, error("idempotency_error", code="idempotency_key_in_use"), Outcome.RUNNING),
    "rate": (429, error(code="rate_limit"), Outcome.THROTTLED),
    "lock": (429, error(code="lock_timeout"), Outcome.THROTTLED),
    "lock, oddly": (400, error(code="lock_timeout"), Outcome.THROTTLED),
    "server": (500, error("api_error"), Outcome.UNAVAILABLE),
    "maintenance": (503, error("api_error"), Outcome.UNAVAILABLE),
}


@pytest.mark.parametrize(("status", "said", "outcome"), COMPLAINTS.values(), ids=COMPLAINTS.keys())
def test_a_complaint_is_sorted_by_what_it_says(
    gateway_to: OpenGateway, status: int, said: dict[str, Any], outcome: Outcome
) -> None:
    """With code and parameter in the reason, and never with our key."""
    answered = answered_with(gateway_to, answer_json(status, said))
    assert (answered.outcome, answered.result) == (outcome, {})
    for told in (said["error"].get("code", ""), said["error"].get("param", "")):
        assert told in answered.reason
    assert API_KEY not in answered.reason


def test_wrong_credentials_are_called_that(gateway_to: OpenGateway) -> None:
    """Ours to set right, so no bill is refused for it."""
    answered = answered_with(gateway_to, answer_json(401, error(message="Invalid API Key provided")))
    assert answered.reason.startswith("the provider does not accept our key, check it: 401")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("60", 60.0), ("Wed, 21 Oct 2026 07:28:00 GMT", 60.0), ("-5", 0.0), ("999999999", 600.0), ("soon", None)],
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_provider_says_when_to_come_back(
    gateway_to: OpenGateway, status: int, header: str, seconds: float | None
) -> None:
    """B45: in seconds or as a date, within reason, even on a proxy's page."""
    page = answer(status, "<html>", "text/html", f"Retry-After: {header}")
    answered = answered_with(gateway_to, page)
    assert answered.outcome is (Outcome.THROTTLED if status == 429 else Outcome.UNAVAILABLE)
    assert answered.retry_after_seconds == seconds


def test_a_stored_failure_says_that_it_is_one(gateway_to: OpenGateway) -> None:
    """Trap 20: to ask again under the same key gets the same answer for ever."""
    answered = answered_with(gateway_to, answer_json(500, error("api_error"), "Idempotent-Replayed: true"))
    assert answered.outcome is Outcome.UNAVAILABLE
    assert answered.reason == "a stored answer, given before: 500 api_error: No."


def test_headers_of_the_answer_do_not_make_the_sdk_act(
    gateway_to: OpenGateway, recwarn: pytest.WarningsRecorder
) -> None:
    """Neither its notices, which become warnings, nor its wish for a retry."""
    behaviour = answer_json(
        409, error(code="idempotency_key_in_use"), "Stripe-Notice: upgrade!", "Stripe-Should-Retry: true"
    )
    assert answered_with(gateway_to, behaviour).outcome is Outcome.RUNNING
    assert [str(warning.message) for warning in recwarn] == []


def test_a_packed_answer_is_not_unpacked(gateway_to: OpenGateway) -> None:
    """We ask for none, and a small one may hold more than our memory."""
    packed = gzip.compress(json.dumps(intent()).encode())
    behaviour = answer(200, packed, "application/json", "Content-Encoding: gzip")
    assert answered_with(gateway_to, behaviour).outcome is Outcome.UNKNOWN


def test_the_answer_before_a_broken_connection_is_not_lost(gateway_to: OpenGateway) -> None:
    """A server that closes after each answer is as good as any."""
    with ScriptedServer(bytes_then(b"", answer_json(200, intent(), "Connection: close")), hang_up) as server:
        assert gateway_to(server.url).charge_each([charge()])[0].outcome is Outcome.DONE
