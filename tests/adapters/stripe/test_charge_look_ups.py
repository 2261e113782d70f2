"""Trap 19, report B25: what became of a charge sent before, by our key, from the provider's list."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from domain.operations import Finding, LookUp, Operation
from tests.adapters.http.scripted_server import Behaviour, ScriptedServer, SeenRequest, answer, answer_json, reset
from tests.adapters.stripe.conftest import API_KEY, OpenGateway
from tests.adapters.stripe.operations import INTENT, charge, error, intent, listing, refund

SENT_AT = datetime(2026, 10, 1, 0, 10, tzinfo=UTC)
STANDING = {"reference": INTENT, "status": "succeeded"}


def looked_up(gateway_to: OpenGateway, behaviour: Behaviour, operation: Operation | None = None) -> LookUp:
    """What one look-up finds, with one question."""
    with ScriptedServer(behaviour) as server:
        (found,) = gateway_to(server.url).look_up_charges([operation or charge()])
        assert len(server.requests) == 1
    return found


def query(request: SeenRequest) -> dict[str, list[str]]:
    """What a list was asked for."""
    assert (request.method, urlsplit(request.target).path) == ("GET", "/v1/payment_intents")
    return parse_qs(urlsplit(request.target).query)


def test_a_paid_charge_is_found_among_those_of_others(gateway_to: OpenGateway) -> None:
    """By our key in its metadata, not by its amount."""
    page = listing(intent(charge("c-9"), id="pi_9"), intent(id="pi_8", metadata={}), intent())
    assert looked_up(gateway_to, answer_json(200, page)) == LookUp(Finding.FOUND, "", STANDING)


def test_a_charge_that_is_in_no_list_is_not_found(gateway_to: OpenGateway) -> None:
    """Whether it may be sent again, the books know."""
    assert looked_up(gateway_to, answer_json(200, listing())).finding is Finding.NOT_FOUND


@pytest.mark.parametrize(
    ("status", "finding"),
    [
        ("processing", Finding.RUNNING),
        ("requires_action", Finding.REFUSED),
        ("requires_payment_method", Finding.RUNNING),  # of our own request, perhaps still at work there
        ("requires_confirmation", Finding.RUNNING),
        ("canceled", Finding.REFUSED),
        ("requires_capture", Finding.FLAGGED),
    ],
)
def test_what_is_found_is_sorted_as_its_answer_would_have_been(
    gateway_to: OpenGateway, status: str, finding: Finding
) -> None:
    """With the provider's id, which the next attempt needs."""
    page = listing(intent(status=status, amount_received=0))
    found = looked_up(gateway_to, answer_json(200, page))
    assert found.finding is finding
    assert found.result == {"reference": INTENT, "status": status}


def test_a_decline_found_later_still_has_its_reason(gateway_to: OpenGateway) -> None:
    """The customer is told why."""
    why = {"code": "card_declined", "decline_code": "lost_card", "message": "Lost."}
    page = listing(intent(status="requires_payment_method", amount_received=0, last_payment_error=why))
    found = looked_up(gateway_to, answer_json(200, page))
    assert found.finding is Finding.REFUSED
    assert found.reason == "requires_payment_method: card_declined/lost_card: Lost."


@pytest.mark.parametrize("other", [{"amount": 989900}, {"currency": "usd"}, {"amount_received": 1}], ids=str)
def test_a_found_charge_of_another_amount_is_shown_to_a_person(gateway_to: OpenGateway, other: dict[str, Any]) -> None:
    """Neither found nor missing may be booked."""
    assert looked_up(gateway_to, answer_json(200, listing(intent(**other)))).finding is Finding.FLAGGED


def test_of_several_under_one_key_the_paid_one_counts(gateway_to: OpenGateway) -> None:
    """A provider without keys may hold them; the reason says how many."""
    page = listing(intent(id="pi_3", status="canceled"), intent(), intent(id="pi_2", status="processing"))
    found = looked_up(gateway_to, answer_json(200, page))
    assert (found.finding, found.result) == (Finding.FOUND, STANDING)
    assert found.reason == "3 payment intents at the provider: pi_3 canceled, pi_1 succeeded, pi_2 processing"


def test_a_bill_that_was_paid_twice_is_shown_to_a_person(gateway_to: OpenGateway) -> None:
    """One of them must go back."""
    found = looked_up(gateway_to, answer_json(200, listing(intent(), intent(id="pi_2"))))
    assert found.finding is Finding.FLAGGED
    assert found.reason.startswith("paid 2 times")


def test_the_search_goes_on_behind_a_declined_one(gateway_to: OpenGateway) -> None:
    """An older intent of the same key may have been paid: a declined one does not end the search."""
    first = listing(intent(id="pi_2", status="canceled"), has_more=True)
    with ScriptedServer(answer_json(200, first), answer_json(200, listing(intent()))) as server:
        (found,) = gateway_to(server.url).look_up_charges([charge()])
    assert found.finding is Finding.FOUND


def test_a_customers_list_is_read_page_by_page_until_all_are_found(gateway_to: OpenGateway) -> None:
    """And no further: the third page is never asked for."""
    asked = [replace(charge("c-1", attempt=number, payment_customer="cus_1")) for number in (1, 2)]
    first = listing(intent(asked[1], id="pi_5"), intent(charge("c-9"), id="pi_4"), has_more=True)
    second = listing(intent(asked[0], id="pi_3"), has_more=True)
    with ScriptedServer(answer_json(200, first), answer_json(200, second)) as server:
        found = gateway_to(server.url).look_up_charges(asked)
        queries = [query(request) for request in server.requests]
    assert [one.result["reference"] for one in found] == ["pi_3", "pi_5"]
    assert queries == [
        {"customer": ["cus_1"], "limit": ["100"]},
        {"customer": ["cus_1"], "limit": ["100"], "starting_after": ["pi_4"]},
    ]


def test_charges_without_a_customer_there_share_one_list_since_the_first_of_them(gateway_to: OpenGateway) -> None:
    """Fifty look-ups are not fifty times the list; a margin allows for clocks that differ."""
    asked = [charge(f"c-{number}", first_sent_at=SENT_AT + timedelta(minutes=number)) for number in range(50)]
    page = listing(*(intent(one, id=f"pi_{number}") for number, one in enumerate(asked)))
    with ScriptedServer(answer_json(200, page)) as server:
        found = gateway_to(server.url, clock_ahead=timedelta(days=1)).look_up_charges(asked)
        (request,) = server.requests
    assert [one.result["reference"] for one in found] == [f"pi_{number}" for number in range(50)]
    since = SENT_AT - timedelta(days=1, seconds=300)
    assert query(request) == {"limit": ["100"], "created[gte]": [str(int(since.timestamp()))]}


def test_each_customers_charges_are_looked_up_in_their_own_list(gateway_to: OpenGateway) -> None:
    """Answers come back in the order of the charges."""
    asked = [charge(f"c-{number}", payment_customer=f"cus_{number % 2}") for number in range(4)]
    everything = listing(*(intent(one, id=f"pi_{number}") for number, one in enumerate(asked)))
    with ScriptedServer(answer_json(200, everything)) as server:
        found = gateway_to(server.url).look_up_charges(asked)
        assert len(server.requests) == 2
    assert [one.result["reference"] for one in found] == ["pi_0", "pi_1", "pi_2", "pi_3"]


def test_a_charge_whose_id_is_known_is_looked_at_directly(gateway_to: OpenGateway) -> None:
    """No list is read for it."""
    known = charge(payment_customer="cus_1", result={"reference": INTENT, "status": "processing"})
    with ScriptedServer(answer_json(200, intent())) as server:
        (found,) = gateway_to(server.url).look_up_charges([known])
        (request,) = server.requests
    assert (request.method, request.target) == ("GET", f"/v1/payment_intents/{INTENT}")
    assert found == LookUp(Finding.FOUND, "", STANDING)


UNCLEAR = {
    "HTML": answer(200, "<html>", "text/html"),
    "cut JSON": answer(200, '{"object": "list", "data": ['),
    "no list": answer_json(200, intent()),
    "a list that does not say whether it ends": answer_json(200, {"object": "list", "data": []}),
    "an empty page that does not end": answer_json(200, listing(has_more=True)),
    "a list of something else": answer_json(200, listing({"id": "cus_1", "object": "customer"})),
    "a list of nothing": answer_json(200, {"object": "list", "has_more": False, "data": [None]}),
    "unknown customer": answer_json(400, error(code="resource_missing")),
    "a redirect": answer_json(302, listing(), "Location: /v1/elsewhere"),
}
NO_ANSWER = {
    "wrong key": answer_json(401, error(message=API_KEY)),
    "throttled": answer(429),
    "unavailable": answer(503),
}


@pytest.mark.parametrize(
    ("behaviour", "finding"),
    [(behaviour, Finding.UNCLEAR) for behaviour in UNCLEAR.values()]
    + [(behaviour, Finding.NO_ANSWER) for behaviour in NO_ANSWER.values()],
    ids=[*UNCLEAR, *NO_ANSWER],
)
def test_a_list_that_cannot_be_read_answers_nothing(
    gateway_to: OpenGateway, behaviour: Behaviour, finding: Finding
) -> None:
    """Not found is a strong word: it may lead to another send. What is no outage is not asked about for ever."""
    found = looked_up(gateway_to, behaviour)
    assert found.finding is finding
    assert found.reason
    assert API_KEY not in found.reason


def test_a_list_that_breaks_answers_for_what_was_paid_before_it_broke(gateway_to: OpenGateway) -> None:
    """The others stay without one, and not for ever: the list may always be too long. (aiohttp may repeat a read.)"""
    first = listing(intent(), intent(charge("c-2"), id="pi_2", status="canceled"), has_more=True)
    with ScriptedServer(answer_json(200, first), reset) as server:
        found = gateway_to(server.url).look_up_charges([charge("c-2"), charge("c-1"), charge("c-3")])
    assert [one.finding for one in found] == [Finding.UNCLEAR, Finding.FOUND, Finding.UNCLEAR]


def test_without_a_key_look_ups_have_no_answer(gateway_to: OpenGateway) -> None:
    """Nobody was asked."""
    gateway = gateway_to("http://127.0.0.1:9", api_key="")
    nobody = LookUp(Finding.NO_ANSWER, "no key of the payment provider is configured")
    assert gateway.look_up_charges([charge()]) == [nobody]
    assert gateway.look_up_refunds([refund()]) == [nobody]
