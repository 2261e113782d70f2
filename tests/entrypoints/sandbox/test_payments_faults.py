"""Scripted faults at the payment provider: which requests they strike, and how it words its part of them."""

import json

import httpx
import pytest

from tests.entrypoints.sandbox.paying import Bill, Cashier, error
from tests.entrypoints.sandbox.world import Parcel, World, until


@pytest.mark.parametrize(
    ("status", "error_type", "code"),
    [
        (400, "invalid_request_error", "bad_request"),
        (402, "card_error", "payment_required"),
        (409, "idempotency_error", "idempotency_key_in_use"),
        (500, "api_error", "internal_server_error"),
        (503, "api_error", "service_unavailable"),
    ],
)
def test_a_scripted_status_is_worded_as_the_provider_words_it(
    cashier: Cashier, bill: Bill, status: int, error_type: str, code: str
) -> None:
    """Nothing is charged, nothing stays under the key, and the error has Stripe's shape."""
    cashier.script(f"status_{status}", bill.customer_id)
    answer = cashier.charge(bill)
    assert (answer.status_code, error(answer)["type"], error(answer)["code"]) == (status, error_type, code)
    assert cashier.ledger(bill) == []
    cashier.paid(bill)


def test_too_many_requests_say_when_to_come_back(cashier: Cashier, bill: Bill) -> None:
    """A rate limit charges nothing."""
    cashier.script("retry_after_7", bill.key)
    answer = cashier.charge(bill)
    assert (answer.status_code, answer.headers["Retry-After"], error(answer)["code"]) == (429, "7", "rate_limit")
    assert cashier.ledger(bill) == []


@pytest.mark.parametrize("fault", ["reset_before", "reset_after", "close_after", "silent_after"])
def test_a_broken_connection_hides_what_happened(cashier: Cashier, bill: Bill, fault: str) -> None:
    """No answer arrives; the ledger knows, and the same key tells."""
    cashier.script(fault, bill.customer_id)
    with pytest.raises(httpx.TransportError):
        httpx.post(
            f"{cashier.world.url}/v1/payment_intents",
            auth=("sk_test_1", ""),
            headers={"Idempotency-Key": bill.key},
            data=bill.form(),
            timeout=1,
        )
    assert len(cashier.ledger(bill)) == (fault != "reset_before")
    intent = cashier.paid(bill)
    assert [row["reference"] for row in cashier.ledger(bill)] == [intent["id"]]


@pytest.mark.parametrize("fault", ["html", "maintenance", "cut_json", "status_500_after", "status_409_after"])
def test_an_answer_that_is_not_to_be_believed_hides_a_payment(cashier: Cashier, bill: Bill, fault: str) -> None:
    """The payment is made, the answer does not say so, and the same key tells the truth."""
    cashier.script(fault, bill.key)
    answer = cashier.charge(bill)
    assert bill.customer_id not in answer.text or fault == "cut_json"
    if fault in ("html", "maintenance", "cut_json"):
        with pytest.raises(json.JSONDecodeError):
            answer.json()
    assert len(cashier.ledger(bill)) == 1
    again = cashier.charge(bill)
    assert (again.json()["status"], again.headers["Idempotent-Replayed"]) == ("succeeded", "true")
    assert len(cashier.ledger(bill)) == 1


def test_in_progress_is_done_in_the_background(cashier: Cashier, bill: Bill) -> None:
    """409 while the first request runs; then the same key gets its answer."""
    cashier.script("in_progress", bill.customer_id)
    answers = [cashier.charge(bill) for _ in range(2)]
    assert [error(answer)["code"] for answer in answers] == ["idempotency_key_in_use"] * 2
    until(lambda: cashier.charge(bill).status_code == 200)
    assert len(cashier.ledger(bill)) == 1


def test_a_redirect_points_elsewhere_and_charges_nothing(cashier: Cashier, bill: Bill) -> None:
    """A POST that is sent away has done nothing."""
    cashier.script("redirect_307", bill.customer_id)
    assert cashier.charge(bill).headers["Location"] == "/_elsewhere"
    assert cashier.ledger(bill) == []


def test_bom_precedes_a_good_answer(cashier: Cashier, bill: Bill) -> None:
    """A byte order mark stands before an answer that is right."""
    cashier.script("bom", bill.customer_id)
    answer = cashier.charge(bill)
    assert answer.content.startswith(b"\xef\xbb\xbf")
    assert json.loads(answer.content.decode("utf-8-sig"))["status"] == "succeeded"


@pytest.mark.parametrize("part", ["header", "reference", "customer"])
def test_a_fault_is_matched_by_key_by_reference_or_by_customer(cashier: Cashier, bill: Bill, part: str) -> None:
    """Whichever of the three contains the match is struck; nobody else is."""
    match = {"header": f"header-{bill.customer_id}", "reference": bill.key, "customer": bill.customer_id}[part]
    other = {"metadata[ikkai_key]": bill.key if part == "reference" else "k"}
    other |= {"metadata[customer_id]": bill.customer_id if part == "customer" else "c"}
    cashier.script("status_503", match)
    cashier.paid(Bill())
    header = f"header-{bill.customer_id if part == 'header' else 'x'}"
    assert cashier.post("/v1/payment_intents", header, bill.form(**other)).status_code == 503


def test_charges_and_refunds_are_struck_apart(cashier: Cashier, bill: Bill) -> None:
    """A fault for refunds leaves payments alone, and finds a refund by its payment's customer."""
    cashier.script("status_503", bill.customer_id, target="refunds")
    intent = cashier.paid(bill)
    assert cashier.refund(intent, bill.month).status_code == 503
    assert cashier.refund(intent, bill.month).status_code == 200


def test_look_ups_are_struck_only_when_named(cashier: Cashier, bill: Bill) -> None:
    """By the provider's names in the request, and by what they are about."""
    intent = cashier.paid(bill)
    refund = cashier.refund(intent, bill.customer_id).json()
    for target, match, path in (
        ("charges", bill.customer, f"/v1/payment_intents?customer={bill.customer}"),
        ("charges", intent["id"], f"/v1/payment_intents/{intent['id']}"),
        ("charges", bill.key, f"/v1/payment_intents/{intent['id']}"),
        ("charges", "", "/v1/payment_intents"),
        ("refunds", intent["id"], f"/v1/refunds?payment_intent={intent['id']}"),
        ("refunds", refund["id"], f"/v1/refunds/{refund['id']}"),
        ("refunds", "", "/v1/refunds"),
    ):
        cashier.script("status_503", f"GET {match}", target)
        assert [cashier.http.get(path).status_code for _ in range(2)] == [503, 200], path


def test_cancellations_are_struck_like_payments(cashier: Cashier, bill: Bill) -> None:
    """A cancellation is a POST of charges too."""
    intent = cashier.paid(bill, "pm_card_threeDSecure2Required")
    cashier.script("status_502_after", intent["id"])
    assert cashier.cancel(intent["id"]).status_code == 502
    assert [row["status"] for row in cashier.ledger(bill)] == ["canceled"]


def test_requests_are_seen_with_their_customer(cashier: Cashier, bill: Bill) -> None:
    """A test can say that one customer was charged with one request."""
    cashier.paid(bill)
    cashier.charge(bill, amount="")
    report = cashier.get("/_requests", target="charges", method="POST")["requests"]
    row = {"target": "charges", "method": "POST", "key": bill.key, "order_id": None, "fault": None}
    assert [seen for seen in report if seen["key"] == bill.key] == [
        row | {"customer_id": bill.customer_id, "status": 200},
        row | {"customer_id": None, "status": 400},
    ]


def test_the_carriers_faults_do_not_strike_payments(cashier: Cashier, world: World, bill: Bill, parcel: Parcel) -> None:
    """One script for the whole world, each fault for its own target."""
    world.script("status_500")
    cashier.paid(bill)
    assert world.book(parcel).status_code == 500
