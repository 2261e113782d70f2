"""The official SDK believes that it speaks to Stripe."""

import pytest
import stripe

from tests.entrypoints.sandbox.paying import Bill, Cashier


@pytest.fixture
def client(cashier: Cashier) -> stripe.StripeClient:
    return stripe.StripeClient("sk_test_1", base_addresses={"api": cashier.world.url}, max_network_retries=0)


def _charge(
    client: stripe.StripeClient, bill: Bill, payment_method: str = "pm_card_visa", amount: int = 1200
) -> stripe.PaymentIntent:
    return client.v1.payment_intents.create(
        {
            "amount": amount,
            "currency": "jpy",
            "customer": bill.customer,
            "payment_method": payment_method,
            "allowed_payment_method_types": ["card"],
            "confirm": True,
            "off_session": True,
            "metadata": {"ikkai_key": bill.key, "customer_id": bill.customer_id, "month": bill.month, "bill": "b-1"},
        },
        {"idempotency_key": bill.key},
    )


def test_the_sdk_charges_once_under_one_key(client: stripe.StripeClient, cashier: Cashier, bill: Bill) -> None:
    """The SDK's own encoding is understood, and its repeat is a repeat."""
    first, again = _charge(client, bill), _charge(client, bill)
    assert (first.status, first.amount_received, first.metadata["month"]) == ("succeeded", 1200, bill.month)
    assert first.id == again.id
    assert len(cashier.ledger(bill)) == 1


def test_the_sdk_reads_a_decline(client: stripe.StripeClient, bill: Bill) -> None:
    """A decline is the SDK's CardError, with the intent to cancel."""
    with pytest.raises(stripe.CardError) as declined:
        _charge(client, bill, "pm_card_chargeDeclinedInsufficientFunds")
    said = declined.value.error
    assert (declined.value.code, said and said.decline_code) == ("card_declined", "insufficient_funds")
    assert said is not None
    assert said.payment_intent is not None
    assert client.v1.payment_intents.cancel(said.payment_intent.id).status == "canceled"


def test_the_sdk_tells_refusals_apart(client: stripe.StripeClient, bill: Bill) -> None:
    """Each refusal is the SDK's own exception for it."""
    with pytest.raises(stripe.InvalidRequestError) as too_small:
        _charge(client, bill, amount=1)
    assert (too_small.value.code, too_small.value.param) == ("amount_too_small", "amount")
    with pytest.raises(stripe.IdempotencyError):
        _charge(client, bill, amount=2)
    with pytest.raises(stripe.InvalidRequestError) as unknown:
        client.v1.payment_intents.retrieve("pi_x")
    assert (unknown.value.http_status, unknown.value.code) == (404, "resource_missing")


@pytest.mark.parametrize(
    ("fault", "exception"),
    [
        ("status_500", stripe.APIError),
        ("status_409", stripe.APIError),
        ("retry_after_1", stripe.RateLimitError),
        ("status_401", stripe.AuthenticationError),
        ("html", stripe.APIError),
        ("cut_json", stripe.APIError),
        ("reset_after", stripe.APIConnectionError),
    ],
)
def test_the_sdk_meets_faults(
    client: stripe.StripeClient, cashier: Cashier, bill: Bill, fault: str, exception: type[stripe.StripeError]
) -> None:
    """Each fault reaches who uses the SDK as the exception that Stripe's own trouble would be."""
    cashier.script(fault, bill.customer_id)
    with pytest.raises(exception):
        _charge(client, bill)
    seen = cashier.get("/_requests", target="charges", method="POST")["requests"]
    assert [row["fault"] for row in seen if row["key"] == bill.key] == [fault]


def test_the_sdk_turns_pages(client: stripe.StripeClient, bill: Bill) -> None:
    """The SDK's paging finds every payment of a customer since a moment, newest first."""
    made = [_charge(client, Bill(bill.customer_id, f"2026-{month:02}")) for month in range(1, 6)]
    listed = client.v1.payment_intents.list(
        {"customer": bill.customer, "created": {"gte": made[0].created}, "limit": 2}
    )
    assert [intent.id for intent in listed.auto_paging_iter()] == [intent.id for intent in reversed(made)]


def test_the_sdk_refunds(client: stripe.StripeClient, bill: Bill) -> None:
    """Made, shown and listed through the SDK; more than was paid is refused."""
    intent = _charge(client, bill)
    refund = client.v1.refunds.create(
        {"payment_intent": intent.id, "amount": 200, "metadata": {"ikkai_key": f"refund:{bill.customer_id}"}},
        {"idempotency_key": f"refund:{bill.customer_id}"},
    )
    assert (refund.status, refund.amount, refund.payment_intent) == ("succeeded", 200, intent.id)
    assert client.v1.refunds.retrieve(refund.id).id == refund.id
    assert [listed.id for listed in client.v1.refunds.list({"payment_intent": intent.id}).data] == [refund.id]
    with pytest.raises(stripe.InvalidRequestError) as too_much:
        client.v1.refunds.create({"payment_intent": intent.id, "amount": 1001})
    assert too_much.value.param == "amount"


def test_what_the_sdks_own_version_no_longer_takes_is_refused(cashier: Cashier, bill: Bill) -> None:
    """`payment_method_types` ends with the API versions from 2026-09-30, which the installed SDK asks for."""

    def status(version: str) -> int:
        headers = {"Stripe-Version": version}
        return cashier.http.post("/v1/payment_intents", headers=headers, data=bill.form()).status_code

    assert (status(stripe.api_version or ""), len(cashier.ledger(bill))) == (400, 0)
    assert (status("2026-07-29.dahlia"), len(cashier.ledger(bill))) == (200, 1)
