"""Keys at the payment provider: as at Stripe, refusals and failures are remembered too."""

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.entrypoints.sandbox.paying import Bill, Cashier, error
from tests.entrypoints.sandbox.world import Parcel, running_world, until


def _is_repeat(first: httpx.Response, again: httpx.Response) -> bool:
    assert "Idempotent-Replayed" not in first.headers
    same = (first.status_code, first.content) == (again.status_code, again.content)
    return same and again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    ("payment_method", "amount", "status", "rows"),
    [
        ("pm_card_visa", "1200", 200, 1),
        ("pm_card_chargeDeclined", "1200", 402, 1),
        ("pm_card_visa", "1", 400, 0),
        ("pm_card_gold", "1200", 404, 0),
    ],
)
def test_the_same_key_gets_the_same_answer(
    cashier: Cashier, bill: Bill, payment_method: str, amount: str, status: int, rows: int
) -> None:
    """Whatever was the result of the first request is the answer to the byte, and nothing is done again."""
    first, again = (cashier.charge(bill, payment_method, amount=amount) for _ in range(2))
    assert first.status_code == status
    assert _is_repeat(first, again)
    assert len(cashier.ledger(bill)) == rows


def test_an_answer_is_repeated_though_the_payment_has_changed(cashier: Cashier, bill: Bill) -> None:
    """The key remembers what was said, not what is true now."""
    first = cashier.charge(bill, "pm_usBankAccount_processing")
    cashier.http.post(f"/_charges/{first.json()['id']}/succeed")
    assert _is_repeat(first, cashier.charge(bill, "pm_usBankAccount_processing"))


def test_the_order_of_fields_does_not_matter(cashier: Cashier, bill: Bill) -> None:
    """The same request written in another order is the same request."""
    first = cashier.charge(bill)
    assert _is_repeat(first, cashier.post("/v1/payment_intents", bill.key, dict(reversed(bill.form().items()))))


def test_the_same_key_with_other_fields_is_an_error(cashier: Cashier, bill: Bill) -> None:
    """A key that names another content is refused, and the first payment stays as it is."""
    intent = cashier.paid(bill)
    for other in (cashier.charge(bill, amount="1300"), cashier.cancel(intent["id"], bill.key)):
        assert (other.status_code, error(other)["type"]) == (400, "idempotency_error")
    assert [row["amount"] for row in cashier.ledger(bill)] == [1200]


def test_a_key_of_one_cancellation_cancels_no_other_payment(cashier: Cashier, bill: Bill) -> None:
    """Two cancellations without a field between them differ in the payment that they name."""
    first, second = (
        cashier.paid(Bill(bill.customer_id, month), "pm_card_threeDSecure2Required") for month in ("2026-10", "2026-11")
    )
    assert cashier.cancel(first["id"], bill.customer_id).status_code == 200
    answer = cashier.cancel(second["id"], bill.customer_id)
    assert (answer.status_code, error(answer)["type"]) == (400, "idempotency_error")
    assert [row["status"] for row in cashier.ledger(bill)] == ["canceled", "requires_action"]


def test_payments_and_refunds_share_their_keys(cashier: Cashier, bill: Bill) -> None:
    """A key belongs to the account: what charged does not refund."""
    intent = cashier.paid(bill)
    answer = cashier.post("/v1/refunds", bill.key, {"payment_intent": intent["id"]})
    assert (answer.status_code, error(answer)["type"]) == (400, "idempotency_error")
    assert cashier.ledger(bill, "refunds") == []


def test_a_key_that_still_runs_is_in_use(bill: Bill) -> None:
    """At a slow provider one of eight is served, the others are told to wait, and one payment is made."""
    with running_world("--latency-ms", "1000") as slow_world, Cashier(slow_world) as cashier:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: cashier.charge(bill), range(8)))
        running = [error(answer) for answer in answers if answer.status_code == 409]
        assert len(running) == 7
        assert {(said["type"], said["code"]) for said in running} == {("idempotency_error", "idempotency_key_in_use")}
        assert len(cashier.ledger(bill)) == 1


def test_a_failure_stays_under_its_key(cashier: Cashier, bill: Bill) -> None:
    """A stored 500 is repeated for ever: only another key charges."""
    cashier.script("replayed_500", bill.customer_id)
    first, again = cashier.charge(bill), cashier.charge(bill)
    assert (first.status_code, error(first)["type"]) == (500, "api_error")
    assert _is_repeat(first, again)
    assert cashier.ledger(bill) == []
    assert cashier.post("/v1/payment_intents", f"{bill.key}:2", bill.form()).status_code == 200


def test_forgotten_keys_charge_again(cashier: Cashier, bill: Bill) -> None:
    """Past its window a key is a new key: the ledger shows both payments under it, and both are found."""
    first = cashier.paid(bill)
    assert cashier.http.post("/_forget_keys").status_code == 204
    second = cashier.paid(bill)
    assert first["id"] != second["id"]
    assert [row["key"] for row in cashier.ledger(bill)] == [bill.key, bill.key]
    listed = cashier.get("/v1/payment_intents", customer=bill.customer)["data"]
    assert listed == [second, first]


def test_a_key_ages_out_by_itself(bill: Bill, parcel: Parcel) -> None:
    """Each provider has a window of its own."""
    window = ("--stripe-key-window-hours", "0.0001")  # 0.36 s
    with running_world(*window) as forgetful_world, Cashier(forgetful_world) as cashier:
        booked, paid = forgetful_world.booked(parcel), cashier.paid(bill)
        until(lambda: cashier.paid(bill) != paid)
        assert forgetful_world.booked(parcel) == booked


def test_without_keys_each_request_charges(keyless_cashier: Cashier, bill: Bill) -> None:
    """A provider that honours no keys charges as often as it is asked, with whatever fields."""
    keyless_cashier.paid(bill)
    keyless_cashier.paid(bill)
    keyless_cashier.paid(bill, amount="1300")
    assert [row["amount"] for row in keyless_cashier.ledger(bill)] == [1200, 1200, 1300]


def test_without_an_own_reference_the_key_is_the_reference(cashier: Cashier) -> None:
    """The ledger names each payment as well as it can; nobody else's key is believed to be one."""
    form = {"amount": "1200", "currency": "jpy", "payment_method": "pm_card_visa", "confirm": "true"}
    reference = cashier.post("/v1/payment_intents", "k-only", form).json()["id"]
    nameless = cashier.post("/v1/payment_intents", None, form).json()["id"]
    keys = {row["reference"]: row["key"] for row in cashier.get("/_ledger")["charges"]}
    assert (keys[reference], keys[nameless]) == ("k-only", None)


def test_a_key_that_is_too_long_is_refused(cashier: Cashier, bill: Bill) -> None:
    """255 characters are a key, one more is none."""
    assert cashier.post("/v1/payment_intents", "k" * 256, bill.form()).status_code == 400
    assert cashier.post("/v1/payment_intents", "k" * 255, bill.form()).status_code == 200
