"""Trap 24, reports B18 and B31: money given back, or stopped on its way, each under its key."""

from typing import Any
from urllib.parse import parse_qsl

import pytest

from domain.money import Money
from domain.operations import Answer, Finding, LookUp, Operation, Outcome
from tests.adapters.http.scripted_server import Behaviour, ScriptedServer, answer, answer_json, reset
from tests.adapters.stripe.conftest import OpenGateway
from tests.adapters.stripe.operations import INTENT, REFUND, error, intent, listing, refund, refund_object

VOID = refund(void=True)
WAS_PAID = "was paid before it could be stopped; ask for a refund"


def given_back(gateway_to: OpenGateway, operation: Operation, *script: Behaviour) -> Answer:
    """What one refund comes to."""
    with ScriptedServer(*script) as server:
        (answered,) = gateway_to(server.url).refund_each([operation])
        assert len(server.requests) == len(script)
    return answered


def looked_up(gateway_to: OpenGateway, operation: Operation, *script: Behaviour) -> LookUp:
    """What one look-up finds."""
    with ScriptedServer(*script) as server:
        (found,) = gateway_to(server.url).look_up_refunds([operation])
        assert len(server.requests) == len(script)
    return found


def test_part_of_a_charge_goes_back_in_minor_units(gateway_to: OpenGateway) -> None:
    """B18: 5,800 yen of 9,899 are asked for as 5800, under our key, and nothing else is sent."""
    asked = refund(money=Money(5800, "JPY"))
    with ScriptedServer(answer_json(200, refund_object(asked))) as server:
        (answered,) = gateway_to(server.url).refund_each([asked])
        (request,) = server.requests
    assert answered == Answer(Outcome.DONE, result={"reference": REFUND, "status": "succeeded"})
    assert (request.method, request.target) == ("POST", "/v1/refunds")
    assert request.headers["idempotency-key"] == asked.key
    assert parse_qsl(request.body.decode()) == [
        ("payment_intent", INTENT),
        ("amount", "5800"),
        ("metadata[ikkai_key]", asked.key),
        ("metadata[customer_id]", "c-1"),
        ("metadata[month]", "2026-09"),
    ]


STATES = [
    ("succeeded", Outcome.DONE, Finding.FOUND, "succeeded"),
    ("pending", Outcome.RUNNING, Finding.RUNNING, "pending"),
    ("requires_action", Outcome.RUNNING, Finding.RUNNING, "pending"),
    ("failed", Outcome.REFUSED, Finding.REFUSED, "failed"),
    ("canceled", Outcome.REFUSED, Finding.REFUSED, "canceled"),
]


@pytest.mark.parametrize(("status", "outcome", "finding", "kept"), STATES)
def test_a_refund_is_sorted_by_its_status(
    gateway_to: OpenGateway, status: str, outcome: Outcome, finding: Finding, kept: str
) -> None:
    """Asked for, found in the list, or looked at by its id: the same in all three ways."""
    said = refund_object(status=status)
    known = refund(result={"reference": REFUND, "status": "pending"})
    answered = given_back(gateway_to, refund(), answer_json(200, said))
    listed = looked_up(gateway_to, refund(), answer_json(200, listing(said)))
    seen = looked_up(gateway_to, known, answer_json(200, said))
    assert (answered.outcome, answered.result) == (outcome, {"reference": REFUND, "status": kept})
    assert (listed.finding, listed.result) == (seen.finding, seen.result) == (finding, answered.result)


@pytest.mark.parametrize(
    "other",
    [
        {"metadata": {"ikkai_key": "refund:r-2"}},
        {"metadata": None},
        {"amount": 58},
        {"currency": "usd"},
        {"payment_intent": "pi_2"},
        {"status": "lost"},
    ],
    ids=str,
)
def test_a_refund_that_is_not_ours_is_shown_to_a_person(gateway_to: OpenGateway, other: dict[str, Any]) -> None:
    """Something is mixed up."""
    answered = given_back(gateway_to, refund(), answer_json(200, refund_object(**other)))
    assert (answered.outcome, answered.result) == (Outcome.FLAGGED, {})


COMPLAINTS = {
    "all is back already": (answer_json(400, error(code="charge_already_refunded")), Outcome.REFUSED),
    "more than there is": (answer_json(400, error(code="amount_too_large", param="amount")), Outcome.REFUSED),
    "other content": (answer_json(400, error("idempotency_error")), Outcome.FLAGGED),
    "running": (answer_json(409, error(code="idempotency_key_in_use")), Outcome.RUNNING),
    "throttled": (answer(429), Outcome.THROTTLED),
    "unavailable": (answer(502, "<html>", "text/html"), Outcome.UNAVAILABLE),
    "HTML": (answer(200, "<html>", "text/html"), Outcome.UNKNOWN),
    "another object": (answer_json(200, intent()), Outcome.UNKNOWN),
    "reset": (reset, Outcome.UNKNOWN),
}


@pytest.mark.parametrize(("behaviour", "outcome"), COMPLAINTS.values(), ids=COMPLAINTS.keys())
def test_what_is_not_a_refund_is_sorted_like_any_answer(
    gateway_to: OpenGateway, behaviour: Behaviour, outcome: Outcome
) -> None:
    """A definite no is one; all else is not."""
    assert given_back(gateway_to, refund(), behaviour).outcome is outcome


def test_a_refund_is_found_among_those_of_the_same_charge(gateway_to: OpenGateway) -> None:
    """Page after page, by our key; the ones made by hand have none."""
    by_hand = refund_object(id="re_9", metadata={})
    other = refund_object(refund("r-2"), id="re_2")
    with ScriptedServer(
        answer_json(200, listing(by_hand, other, has_more=True)), answer_json(200, listing(refund_object()))
    ) as server:
        (found,) = gateway_to(server.url).look_up_refunds([refund()])
        targets = [request.target for request in server.requests]
    assert (found.finding, found.result["reference"]) == (Finding.FOUND, REFUND)
    assert targets == [
        f"/v1/refunds?payment_intent={INTENT}&limit=100",
        f"/v1/refunds?payment_intent={INTENT}&limit=100&starting_after=re_2",
    ]


def test_a_refund_that_is_in_no_list_is_not_found(gateway_to: OpenGateway) -> None:
    """And a list that cannot be read is no answer."""
    assert looked_up(gateway_to, refund(), answer_json(200, listing())).finding is Finding.NOT_FOUND
    assert looked_up(gateway_to, refund(), answer(500)).finding is Finding.NO_ANSWER


def test_a_refund_that_was_made_twice_is_shown_to_a_person(gateway_to: OpenGateway) -> None:
    """At a provider without keys."""
    page = listing(refund_object(), refund_object(id="re_2"))
    found = looked_up(gateway_to, refund(), answer_json(200, page))
    assert (found.finding, found.reason) == (
        Finding.FLAGGED,
        "2 refunds at the provider: re_1 succeeded, re_2 succeeded",
    )


def stopped(status: str, **other: Any) -> dict[str, Any]:
    """The charge that is to be stopped, as the provider knows it."""
    return intent(id=INTENT, status=status, amount_received=0) | other


def test_a_charge_that_is_processed_is_stopped_under_the_refunds_key(gateway_to: OpenGateway) -> None:
    """No money has come yet, so none goes back."""
    with ScriptedServer(answer_json(200, stopped("canceled"))) as server:
        (answered,) = gateway_to(server.url).refund_each([VOID])
        (request,) = server.requests
    assert answered == Answer(Outcome.DONE, result={"reference": INTENT, "status": "canceled"})
    assert (request.method, request.target) == ("POST", f"/v1/payment_intents/{INTENT}/cancel")
    assert request.headers["idempotency-key"] == VOID.key


UNEXPECTED = answer_json(400, error(code="payment_intent_unexpected_state"))


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("canceled", Outcome.DONE),
        ("succeeded", Outcome.REFUSED),
        ("processing", Outcome.RUNNING),
        ("requires_payment_method", Outcome.NOT_SENT),
    ],
)
def test_a_charge_that_cannot_be_stopped_is_sorted_by_how_it_stands_now(
    gateway_to: OpenGateway, status: str, outcome: Outcome
) -> None:
    """The no itself may be a stored one."""
    answered = given_back(gateway_to, VOID, UNEXPECTED, answer_json(200, stopped(status)))
    assert answered.outcome is outcome


def test_a_charge_that_was_paid_meanwhile_is_not_stopped_but_must_be_refunded(gateway_to: OpenGateway) -> None:
    """The reason says what to do instead."""
    said = answer_json(400, error(code="payment_intent_unexpected_state", payment_intent=stopped("succeeded")))
    answered = given_back(gateway_to, VOID, said)
    assert answered == Answer(Outcome.REFUSED, WAS_PAID, {"reference": INTENT, "status": "succeeded"})


def test_a_stopped_charge_of_another_amount_is_shown_to_a_person(gateway_to: OpenGateway) -> None:
    """It is not the one that we meant."""
    said = answer_json(200, stopped("canceled", amount=1))
    assert given_back(gateway_to, VOID, said).outcome is Outcome.FLAGGED


def test_a_stop_without_an_answer_is_of_unknown_fate(gateway_to: OpenGateway) -> None:
    """It is asked again under the same key."""
    assert given_back(gateway_to, VOID, reset).outcome is Outcome.UNKNOWN
    assert given_back(gateway_to, VOID, UNEXPECTED, answer(500)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("status", "finding"),
    [
        ("canceled", Finding.FOUND),
        ("succeeded", Finding.REFUSED),
        ("processing", Finding.NOT_FOUND),
        ("requires_payment_method", Finding.NOT_FOUND),
    ],
)
def test_whether_a_charge_was_stopped_is_seen_at_the_charge(
    gateway_to: OpenGateway, status: str, finding: Finding
) -> None:
    """Not stopped yet means that it may be asked again."""
    assert looked_up(gateway_to, VOID, answer_json(200, stopped(status))).finding is finding


def test_a_charge_that_the_provider_would_not_stop_is_waited_for(gateway_to: OpenGateway) -> None:
    """It was asked and said no; in the end the charge is paid, or not."""
    told = refund(void=True, result={"reference": INTENT, "status": "processing"})
    found = looked_up(gateway_to, told, answer_json(200, stopped("processing")))
    assert (found.finding, found.result) == (Finding.RUNNING, told.result)
