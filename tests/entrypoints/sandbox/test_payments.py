"""The payment provider as an honest one: payments, by test payment method, and what is refused."""

import time

import httpx
import pytest

from tests.entrypoints.sandbox.paying import Bill, Cashier, error
from tests.entrypoints.sandbox.world import until


@pytest.mark.parametrize("payment_method", ["pm_card_visa", "pm_card_mastercard", "pm_card_jp"])
def test_a_good_card_pays(cashier: Cashier, bill: Bill, payment_method: str) -> None:
    """What the provider answers is what it shows later, and what the ledger says."""
    intent = cashier.paid(bill, payment_method)
    assert intent == {
        "id": intent["id"],
        "object": "payment_intent",
        "amount": 1200,
        "amount_received": 1200,
        "currency": "jpy",
        "customer": bill.customer,
        "payment_method": payment_method,
        "metadata": {
            "ikkai_key": bill.key,
            "customer_id": bill.customer_id,
            "month": bill.month,
            "bill": "2026-000001",
        },
        "status": "succeeded",
        "latest_charge": intent["latest_charge"],
        "last_payment_error": None,
        "created": intent["created"],
        "livemode": False,
    }
    assert (intent["id"][:3], intent["latest_charge"][:3]) == ("pi_", "ch_")
    assert abs(intent["created"] - time.time()) < 10
    assert cashier.get(f"/v1/payment_intents/{intent['id']}") == intent
    assert cashier.ledger(bill) == [
        {
            "key": bill.key,
            "customer_id": bill.customer_id,
            "month": bill.month,
            "amount": 1200,
            "currency": "JPY",
            "status": "succeeded",
            "reference": intent["id"],
        }
    ]


@pytest.mark.parametrize(
    ("payment_method", "code", "decline_code"),
    [
        ("pm_card_chargeDeclined", "card_declined", "generic_decline"),
        ("pm_card_chargeDeclinedInsufficientFunds", "card_declined", "insufficient_funds"),
        ("pm_card_authenticationRequired", "authentication_required", "authentication_required"),
    ],
)
def test_a_bad_card_is_declined(
    cashier: Cashier, bill: Bill, payment_method: str, code: str, decline_code: str
) -> None:
    """A decline carries the whole intent, which has taken nothing and may still be paid."""
    answer = cashier.charge(bill, payment_method)
    said = error(answer)
    assert answer.status_code == 402
    assert (said["type"], said["code"], said["decline_code"]) == ("card_error", code, decline_code)
    intent = said["payment_intent"]
    assert (intent["status"], intent["amount_received"]) == ("requires_payment_method", 0)
    assert (intent["payment_method"], intent["latest_charge"]) == (None, said["charge"])
    assert intent["last_payment_error"]["decline_code"] == decline_code
    assert cashier.get(f"/v1/payment_intents/{intent['id']}") == intent
    assert [row["status"] for row in cashier.ledger(bill)] == ["declined"]


def test_a_payment_may_wait_for_the_customer(cashier: Cashier, bill: Bill) -> None:
    """Strong authentication is no decline and no payment, until the customer has acted."""
    intent = cashier.paid(bill, "pm_card_threeDSecure2Required")
    assert (intent["status"], intent["latest_charge"]) == ("requires_action", None)
    assert [row["status"] for row in cashier.ledger(bill)] == ["requires_action"]
    assert cashier.http.post(f"/_charges/{intent['id']}/succeed").json()["status"] == "succeeded"
    assert cashier.get(f"/v1/payment_intents/{intent['id']}")["latest_charge"].startswith("ch_")


def test_a_bank_takes_its_time(cashier: Cashier, bill: Bill) -> None:
    """A processing payment succeeds by itself."""
    intent = cashier.paid(bill, "pm_usBankAccount_processing")
    assert (intent["status"], intent["amount_received"]) == ("processing", 0)
    assert [row["status"] for row in cashier.ledger(bill)] == ["processing"]
    until(lambda: [row["status"] for row in cashier.ledger(bill)] == ["succeeded"])


def test_a_bank_may_say_no_in_the_end(cashier: Cashier, bill: Bill) -> None:
    """Settled by hand a processing payment is declined, and its time coming changes nothing."""
    later = Bill()
    intent = cashier.paid(bill, "pm_usBankAccount_processing")
    assert cashier.http.post(f"/_charges/{intent['id']}/fail").json()["status"] == "declined"
    assert cashier.http.post(f"/_charges/{intent['id']}/succeed").status_code == 409
    cashier.paid(later, "pm_usBankAccount_processing")
    until(lambda: cashier.ledger(later)[0]["status"] == "succeeded")
    shown = cashier.get(f"/v1/payment_intents/{intent['id']}")
    assert (shown["status"], shown["last_payment_error"]["code"]) == ("requires_payment_method", "card_declined")


def test_an_unknown_payment_method_pays_nothing(cashier: Cashier, bill: Bill) -> None:
    """A name that the provider never gave out is a definite no."""
    answer = cashier.charge(bill, "pm_card_gold")
    assert (answer.status_code, error(answer)["code"]) == (404, "resource_missing")
    assert error(answer)["param"] == "payment_method"
    assert cashier.ledger(bill) == []


@pytest.mark.parametrize(
    ("amount", "currency", "status"),
    [
        ("49", "jpy", 400),
        ("50", "jpy", 200),
        ("49", "usd", 400),
        ("49", "eur", 400),
        ("0", "gbp", 400),
        ("1", "gbp", 200),
    ],
)
def test_too_little_is_not_charged(cashier: Cashier, bill: Bill, amount: str, currency: str, status: int) -> None:
    """Each currency has a least amount."""
    answer = cashier.charge(bill, amount=amount, currency=currency)
    assert answer.status_code == status
    assert len(cashier.ledger(bill)) == (status == 200)
    if status == 400:
        assert (error(answer)["code"], error(answer)["param"]) == ("amount_too_small", "amount")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("amount", ""),
        ("amount", "-5"),
        ("amount", "12.00"),
        ("amount", "1e3"),
        ("amount", "１２"),
        ("amount", str(2**63)),
        ("amount", "9" * 5000),
        ("amount[0]", "5"),
        ("currency", ""),
        ("currency", "JPY"),
        ("currency", "yen!"),
        ("payment_method", ""),
        ("confirm", "false"),
        ("payment_method_types[0]", "paypal"),
        ("allowed_payment_method_types[0]", "paypal"),
        ("metadata", "x"),
        ("metadata[note]", "x" * 501),
        ("capture", "true"),
        ("metadata[a][b]", "x"),
    ],
)
def test_a_bad_field_is_refused_by_name(cashier: Cashier, bill: Bill, field: str, value: str) -> None:
    """A malformed request charges nothing, names its field and leaves its key free."""
    answer = cashier.charge(bill, **{field: value})
    assert (answer.status_code, error(answer)["type"]) == (400, "invalid_request_error")
    assert error(answer)["param"].partition("[")[0] == field.partition("[")[0]
    assert cashier.ledger(bill) == []
    cashier.paid(bill)


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"{}", "json"),
        (b"amount=\xff", "x-www-form-urlencoded"),
        (b"amount=%ff", "x-www-form-urlencoded"),
    ],
)
def test_what_is_no_form_is_refused(cashier: Cashier, content: bytes, content_type: str) -> None:
    """Another kind of body is answered with 400, never with a crash."""
    answer = cashier.http.post(
        "/v1/payment_intents", content=content, headers={"Content-Type": f"application/{content_type}"}
    )
    assert (answer.status_code, error(answer)["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/v1/payment_intents", "POST"),
        ("/v1/payment_intents", "GET"),
        ("/v1/payment_intents/pi_1", "GET"),
        ("/v1/payment_intents/pi_1/cancel", "POST"),
        ("/v1/refunds", "POST"),
        ("/v1/refunds", "GET"),
        ("/v1/refunds/re_1", "GET"),
    ],
)
@pytest.mark.parametrize("authorization", [None, "Bearer", "Basic Og==", "Basic !", "Digest c2s6"])
def test_nobody_is_served_without_an_api_key(
    cashier: Cashier, path: str, method: str, authorization: str | None
) -> None:
    """Every door of the provider asks for a key."""
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = httpx.request(method, cashier.world.url + path, headers=headers)
    assert (answer.status_code, error(answer)["type"]) == (401, "invalid_request_error")


def test_a_key_may_come_as_the_user_of_basic(cashier: Cashier) -> None:
    """As `curl -u sk_test_1:` sends it."""
    assert httpx.get(f"{cashier.world.url}/v1/refunds", auth=("sk_test_1", "")).status_code == 200


def test_a_declined_payment_is_cancelled(cashier: Cashier, bill: Bill) -> None:
    """Before the next attempt the last one is made unpayable; nobody cancels it twice."""
    intent_id = error(cashier.charge(bill, "pm_card_chargeDeclined"))["payment_intent"]["id"]
    answer = cashier.cancel(intent_id)
    assert (answer.status_code, answer.json()["status"]) == (200, "canceled")
    assert answer.json()["payment_method"] is None
    assert [row["status"] for row in cashier.ledger(bill)] == ["canceled"]
    again = cashier.cancel(intent_id)
    assert (again.status_code, error(again)["code"]) == (400, "payment_intent_unexpected_state")
    assert error(again)["payment_intent"] == answer.json()


def test_a_processing_payment_is_cancelled_for_good(cashier: Cashier, bill: Bill) -> None:
    """A void payment does not succeed by itself."""
    cashier.cancel(cashier.paid(bill, "pm_usBankAccount_processing")["id"])
    later = Bill()
    cashier.paid(later, "pm_usBankAccount_processing")
    until(lambda: cashier.ledger(later)[0]["status"] == "succeeded")
    assert [row["status"] for row in cashier.ledger(bill)] == ["canceled"]


def test_what_is_paid_is_not_cancelled(cashier: Cashier, bill: Bill) -> None:
    """Only a refund undoes a payment."""
    intent = cashier.paid(bill)
    answer = cashier.cancel(intent["id"])
    assert (answer.status_code, error(answer)["code"]) == (400, "payment_intent_unexpected_state")
    assert error(answer)["payment_intent"] == intent


def test_an_unknown_payment_is_said_to_be_unknown(cashier: Cashier) -> None:
    """Neither shown nor cancelled nor settled."""
    unknown = [cashier.http.get("/v1/payment_intents/pi_x"), cashier.cancel("pi_x")]
    assert [(answer.status_code, error(answer)["code"]) for answer in unknown] == [(404, "resource_missing")] * 2
    assert cashier.http.post("/_charges/pi_x/succeed").status_code == 404


def test_payments_are_listed_newest_first_page_by_page(cashier: Cashier) -> None:
    """Every payment of a customer is on exactly one page, declined ones included."""
    bills = [Bill("c-pages", f"2026-{month:02}") for month in range(1, 6)]
    for bill in bills:
        cashier.charge(bill, "pm_card_visa" if bill is not bills[2] else "pm_card_chargeDeclined")
    months, behind = [], dict[str, str]()
    while True:
        listed = cashier.get("/v1/payment_intents", customer="cus_c-pages", limit="2", **behind)
        assert (listed["object"], listed["url"]) == ("list", "/v1/payment_intents")
        months += [intent["metadata"]["month"] for intent in listed["data"]]
        if not listed["has_more"]:
            break
        behind = {"starting_after": listed["data"][-1]["id"]}
    assert months == [bill.month for bill in reversed(bills)]


def test_a_list_is_cut_by_time(cashier: Cashier, bill: Bill) -> None:
    """Both ends are included."""
    first = cashier.paid(bill)["created"]
    until(lambda: int(time.time()) > first)
    second = cashier.paid(Bill(bill.customer_id, "2026-11"))["created"]

    def found(**created: int) -> list[int]:
        query = {f"created[{end}]": str(seconds) for end, seconds in created.items()}
        listed = cashier.get("/v1/payment_intents", customer=bill.customer, **query)
        return [intent["created"] for intent in listed["data"]]

    assert found(gte=first, lte=second) == [second, first]
    assert found(gte=first + 1) == [second]
    assert found(lte=second - 1) == [first]
    assert found(gte=second + 1) == []


@pytest.mark.parametrize(
    ("field", "value", "param"),
    [
        ("limit", "0", "limit"),
        ("limit", "101", "limit"),
        ("limit", "ten", "limit"),
        ("created[gte]", "now", "created[gte]"),
        ("created[after]", "1", "created[after]"),
        ("created", "1", "created"),
        ("starting_after", "pi_x", "starting_after"),
        ("key", "k", "key"),
    ],
)
def test_a_bad_wish_for_a_list_is_refused_by_name(cashier: Cashier, field: str, value: str, param: str) -> None:
    """A list that is not what was asked for would be believed."""
    for path in ("/v1/payment_intents", "/v1/refunds"):
        answer = cashier.http.get(path, params={field: value})
        assert (answer.status_code in (400, 404), error(answer)["param"]) == (True, param)
