"""Refunds at the payment provider: never more than was paid, pending, and failing late."""

from typing import Any

import pytest

from tests.entrypoints.sandbox.paying import Bill, Cashier, error
from tests.entrypoints.sandbox.world import running_world


def _settled(cashier: Cashier, refund: dict[str, Any], ending: str) -> int:
    return cashier.http.post(f"/_refunds/{refund['id']}/{ending}").status_code


def test_a_part_goes_back(cashier: Cashier, bill: Bill) -> None:
    """What the provider answers is what it shows later, and what the ledger says."""
    intent = cashier.paid(bill)
    answer = cashier.refund(intent, "r-1", amount="200")
    refund = answer.json()
    assert answer.status_code == 200
    assert refund == {
        "id": refund["id"],
        "object": "refund",
        "amount": 200,
        "currency": "jpy",
        "payment_intent": intent["id"],
        "charge": intent["latest_charge"],
        "status": "succeeded",
        "metadata": {"ikkai_key": "refund:r-1"},
        "created": refund["created"],
    }
    assert refund["id"].startswith("re_")
    assert cashier.get(f"/v1/refunds/{refund['id']}") == refund
    assert cashier.get("/v1/refunds", payment_intent=intent["id"])["data"] == [refund]
    assert cashier.ledger(bill, "refunds") == [
        {
            "key": "refund:r-1",
            "customer_id": bill.customer_id,
            "month": bill.month,
            "amount": 200,
            "currency": "JPY",
            "status": "succeeded",
            "reference": refund["id"],
            "charge": intent["id"],
        }
    ]


def test_never_more_goes_back_than_was_paid(cashier: Cashier, bill: Bill) -> None:
    """Too much is refused by the amount, and after the rest nothing remains."""
    intent = cashier.paid(bill)
    cashier.refund(intent, f"{bill.key}-1", amount="200")
    too_much = cashier.refund(intent, f"{bill.key}-2", amount="1001")
    assert (too_much.status_code, error(too_much)["param"], "code" in error(too_much)) == (400, "amount", False)
    assert cashier.refund(intent, f"{bill.key}-3").json()["amount"] == 1000
    nothing = cashier.refund(intent, f"{bill.key}-4", amount="1")
    assert (nothing.status_code, error(nothing)["code"]) == (400, "charge_already_refunded")
    assert [row["amount"] for row in cashier.ledger(bill, "refunds")] == [200, 1000]


def test_the_same_key_refunds_once(cashier: Cashier, bill: Bill) -> None:
    """A repeated refund is answered as the first one; a refused one stays refused under its key."""
    intent = cashier.paid(bill)
    answers = [cashier.refund(intent, bill.key, amount="200") for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert answers[1].headers["Idempotent-Replayed"] == "true"
    refused = [cashier.refund(intent, f"{bill.key}-2", amount="9999") for _ in range(2)]
    assert [answer.headers.get("Idempotent-Replayed") for answer in refused] == [None, "true"]
    assert len(cashier.ledger(bill, "refunds")) == 1


@pytest.mark.parametrize("payment_method", ["pm_card_threeDSecure2Required", "pm_usBankAccount_processing"])
def test_what_is_not_paid_does_not_go_back(cashier: Cashier, bill: Bill, payment_method: str) -> None:
    """A payment still open is cancelled, not refunded."""
    answer = cashier.refund(cashier.paid(bill, payment_method), bill.key)
    assert (answer.status_code, error(answer)["type"]) == (400, "invalid_request_error")
    assert cashier.ledger(bill, "refunds") == []


@pytest.mark.parametrize(
    ("form", "status", "param"),
    [
        ({}, 400, "payment_intent"),
        ({"payment_intent": "pi_x"}, 404, "payment_intent"),
        ({"amount": "1.5"}, 400, "amount"),
        ({"amount": "0"}, 400, "amount"),
        ({"charge": "ch_1"}, 400, "charge"),
    ],
)
def test_a_bad_field_is_refused_by_name(
    cashier: Cashier, bill: Bill, form: dict[str, str], status: int, param: str
) -> None:
    """A refund that is wrong in itself sends nothing back."""
    paid = {"payment_intent": cashier.paid(bill)["id"]} if "payment_intent" not in form and form else {}
    answer = cashier.post("/v1/refunds", None, paid | form)
    assert (answer.status_code, error(answer)["param"]) == (status, param)
    assert cashier.ledger(bill, "refunds") == []


def test_a_pending_refund_holds_its_money_until_it_fails(cashier: Cashier, bill: Bill) -> None:
    """Pending counts against what remains; failed, it may be refunded again."""
    intent = cashier.paid(bill, "pm_card_pendingRefund")
    refund = cashier.refund(intent, f"{bill.key}-1").json()
    assert refund["status"] == "pending"
    assert error(cashier.refund(intent, f"{bill.key}-2"))["code"] == "charge_already_refunded"
    assert _settled(cashier, refund, "fail") == 200
    assert cashier.get(f"/v1/refunds/{refund['id']}")["status"] == "failed"
    assert cashier.refund(intent, f"{bill.key}-3").json()["amount"] == 1200
    assert [row["status"] for row in cashier.ledger(bill, "refunds")] == ["failed", "pending"]


def test_a_refund_settles_once_but_may_fail_late(cashier: Cashier, bill: Bill) -> None:
    """Pending, succeeded, failed: never back."""
    refund = cashier.refund(cashier.paid(bill, "pm_card_pendingRefund"), bill.key).json()
    endings = ("succeed", "succeed", "fail", "fail", "succeed")
    assert [_settled(cashier, refund, ending) for ending in endings] == [200, 409, 200, 409, 409]


def test_a_refund_that_succeeded_fails_late(cashier: Cashier, bill: Bill) -> None:
    """A closed account sends the money back days after it was said to have arrived."""
    refund = cashier.refund(cashier.paid(bill, "pm_card_refundFail"), bill.key).json()
    assert refund["status"] == "succeeded"
    assert _settled(cashier, refund, "fail") == 200
    assert [row["status"] for row in cashier.ledger(bill, "refunds")] == ["failed"]


def test_a_refund_by_hand_has_no_key(cashier: Cashier, bill: Bill) -> None:
    """What somebody refunds in the provider's dashboard is listed like any other, without our metadata."""
    intent = cashier.paid(bill)
    made = cashier.http.post(f"/_charges/{intent['id']}/refund", json={"amount": 300})
    assert (made.status_code, made.json()["key"], made.json()["customer_id"]) == (201, None, bill.customer_id)
    listed = cashier.get("/v1/refunds", payment_intent=intent["id"])["data"]
    assert [(refund["amount"], refund["metadata"]) for refund in listed] == [(300, {})]
    assert cashier.http.post(f"/_charges/{intent['id']}/refund", json={"amount": 901}).status_code == 400
    assert cashier.http.post(f"/_charges/{intent['id']}/refund", json={}).status_code == 422
    assert cashier.refund(intent, bill.key).json()["amount"] == 900


def test_unknown_refunds_are_said_to_be_unknown(cashier: Cashier) -> None:
    """Neither shown nor listed nor settled nor made by hand."""
    for path in ("/v1/refunds/re_x", "/v1/refunds?payment_intent=pi_x"):
        answer = cashier.http.get(path)
        assert (answer.status_code, error(answer)["code"]) == (404, "resource_missing")
    assert cashier.http.post("/_refunds/re_x/succeed").status_code == 404
    assert cashier.http.post("/_charges/pi_x/refund", json={"amount": 1}).status_code == 404


def test_refunds_are_listed_newest_first_page_by_page(cashier: Cashier, bill: Bill) -> None:
    """Every refund of a payment is on exactly one page."""
    intent = cashier.paid(bill)
    made = [cashier.refund(intent, f"{bill.key}-{number}", amount="10").json() for number in range(3)]
    first = cashier.get("/v1/refunds", payment_intent=intent["id"], limit="2")
    rest = cashier.get("/v1/refunds", payment_intent=intent["id"], starting_after=first["data"][-1]["id"])
    assert (first["has_more"], rest["has_more"]) == (True, False)
    assert first["data"] + rest["data"] == made[::-1]


def test_the_summary_counts_what_was_paid_and_what_went_back() -> None:
    """Declined, cancelled and waiting payments and failed refunds do not count; two under one key are twice."""
    with running_world("--no-stripe-keys") as fresh_world, Cashier(fresh_world) as cashier:
        twice, once, processing, cancelled = Bill(), Bill(), Bill(), Bill()
        intent = [cashier.paid(bill) for bill in (twice, twice, once)][-1]
        cashier.charge(Bill(), "pm_card_chargeDeclined")
        cashier.paid(Bill(), "pm_card_threeDSecure2Required")
        cashier.cancel(cashier.paid(cancelled, "pm_usBankAccount_processing")["id"])
        cashier.paid(processing, "pm_usBankAccount_processing")
        made = [cashier.refund(intent, refund_id, amount="10").json() for refund_id in ("r-1", "r-1", "r-2", "r-3")]
        _settled(cashier, made[-1], "fail")
        for _ in range(2):
            cashier.http.post(f"/_charges/{intent['id']}/refund", json={"amount": 1})
        summary = cashier.get("/_ledger/summary")
        assert summary["charges"] == {"rows": 4, "keys": 3, "twice": 1}
        assert summary["refunds"] == {"rows": 5, "keys": 2, "twice": 1}
        assert len(cashier.get("/_ledger")["charges"]) == 7
        assert len(cashier.get("/_ledger")["refunds"]) == 6
