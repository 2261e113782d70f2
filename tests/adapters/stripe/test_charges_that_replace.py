"""One bill never has two payable intents: what an attempt replaces is surely canceled before it is sent."""

from typing import Any

import pytest

from domain.operations import Answer, Outcome
from tests.adapters.http.scripted_server import Behaviour, ScriptedServer, answer, answer_json, reset, silence
from tests.adapters.stripe.conftest import OpenGateway
from tests.adapters.stripe.operations import charge, error, intent

REPLACED = "pi_0"
SECOND = charge(attempt=2, replaces=REPLACED)
PAID = answer_json(200, intent(SECOND))


def before(status: str, **other: Any) -> dict[str, Any]:
    """The attempt before, as the provider knows it."""
    return intent(charge(), id=REPLACED, status=status, amount_received=0) | other


def asked(gateway_to: OpenGateway, *script: Behaviour, deadline_seconds: float = 20.0) -> tuple[Answer, list[str]]:
    """What the second attempt comes to, and what the provider was asked."""
    with ScriptedServer(*script) as server:
        (answered,) = gateway_to(server.url, deadline_seconds=deadline_seconds).charge_each([SECOND])
        return answered, [f"{one.method} {one.target.removeprefix('/v1/payment_intents')}" for one in server.requests]


def test_the_attempt_before_is_canceled_first_under_a_key_of_its_own(gateway_to: OpenGateway) -> None:
    """And the charge goes out only then."""
    with ScriptedServer(answer_json(200, before("canceled")), PAID) as server:
        (answered,) = gateway_to(server.url).charge_each([SECOND])
        cancellation, creation = server.requests
    assert answered.outcome is Outcome.DONE
    assert (cancellation.method, cancellation.target) == ("POST", "/v1/payment_intents/pi_0/cancel")
    assert cancellation.headers["idempotency-key"] == "billing-cancel:c-1:2026-09:2"
    assert creation.headers["idempotency-key"] == SECOND.key


def test_the_key_of_the_cancellation_is_never_too_long(gateway_to: OpenGateway) -> None:
    """Stripe takes 255 characters, and a bill's key may have them all."""
    second = charge("客" * 120, attempt=2, replaces=REPLACED)
    assert len(second.key) == 255
    with ScriptedServer(answer_json(200, before("canceled")), answer_json(200, intent(second))) as server:
        gateway_to(server.url).charge_each([second])
        keys = [one.headers["idempotency-key"] for one in server.requests]
    assert keys[1] == second.key
    assert len(keys[0]) == 255
    assert keys[0] != keys[1]


def unexpected(**other: Any) -> Behaviour:
    """The provider does not cancel it."""
    return answer_json(400, error(code="payment_intent_unexpected_state", **other))


def test_an_attempt_that_was_canceled_before_is_as_good(gateway_to: OpenGateway) -> None:
    """The complaint shows it, or a look at the intent does."""
    shown = asked(gateway_to, unexpected(payment_intent=before("canceled")), PAID)
    looked_at = asked(gateway_to, unexpected(), answer_json(200, before("canceled")), PAID)
    assert shown[0].outcome is looked_at[0].outcome is Outcome.DONE
    assert shown[1] == ["POST /pi_0/cancel", "POST "]
    assert looked_at[1] == ["POST /pi_0/cancel", "GET /pi_0", "POST "]


def test_a_stored_complaint_is_not_believed_about_what_may_have_changed(gateway_to: OpenGateway) -> None:
    """The cancellation's own key may answer with what was true yesterday."""
    answered, requests = asked(
        gateway_to,
        unexpected(payment_intent=before("processing")),
        answer_json(200, before("canceled")),
        PAID,
    )
    assert answered.outcome is Outcome.DONE
    assert requests == ["POST /pi_0/cancel", "GET /pi_0", "POST "]


def test_an_earlier_attempt_that_was_paid_after_all_is_shown_to_a_person(gateway_to: OpenGateway) -> None:
    """The bill must not be charged twice."""
    answered, requests = asked(gateway_to, unexpected(payment_intent=before("succeeded")), PAID)
    reason = "an earlier attempt was paid after all: pi_0; resolve with --happened pi_0"
    assert answered == Answer(Outcome.FLAGGED, reason, {"reference": "pi_0", "status": "succeeded"})
    assert requests == ["POST /pi_0/cancel"]


def test_an_earlier_attempt_that_the_provider_does_not_know_is_shown_to_a_person(gateway_to: OpenGateway) -> None:
    """Perhaps it is another account's."""
    missing = answer_json(404, error(code="resource_missing"))
    answered, requests = asked(gateway_to, missing, PAID)
    assert answered.outcome is Outcome.FLAGGED
    assert requests == ["POST /pi_0/cancel"]


NOT_CLEARED = {
    "processing": (unexpected(), answer_json(200, before("processing"))),
    "declined still": (unexpected(), answer_json(200, before("requires_payment_method"))),
    "not canceled": (answer_json(200, before("requires_payment_method")),),
    "another one": (answer_json(200, before("canceled", id="pi_7")),),
    "HTML": (answer(200, "<html>", "text/html"),),
    "wrong key": (answer_json(401, error()),),
    "running": (answer_json(409, error(code="idempotency_key_in_use")),),
    "throttled": (answer(429),),
    "unavailable": (answer(503),),
    "reset": (reset,),
    "silence": (silence,),
    "another one at the second look": (unexpected(), answer_json(200, before("canceled", id="pi_7"))),
    "unavailable at the second look": (unexpected(), answer(503)),
}


@pytest.mark.parametrize("script", NOT_CLEARED.values(), ids=NOT_CLEARED.keys())
def test_as_long_as_the_attempt_before_may_be_paid_nothing_is_charged(
    gateway_to: OpenGateway, script: tuple[Behaviour, ...]
) -> None:
    """What was said so far is harmless to repeat, so the charge itself counts as not sent."""
    answered, requests = asked(gateway_to, *script, PAID, deadline_seconds=1.0)
    assert answered.outcome is Outcome.NOT_SENT
    assert REPLACED in answered.reason
    assert "POST " not in requests


def test_the_providers_wish_to_wait_is_heard_there_too(gateway_to: OpenGateway) -> None:
    """A throttled cancellation says when to come back."""
    answered, _ = asked(gateway_to, answer(429, "", None, "Retry-After: 30"), PAID)
    assert answered.retry_after_seconds == 30.0
