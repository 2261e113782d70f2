"""What the payment provider's clients see of its ledger: Stripe's objects, as far as we use them."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from entrypoints.sandbox.answers import Answer, json_answer
from entrypoints.sandbox.payment_ledger import PaymentIntent, Refund
from entrypoints.sandbox.payment_methods import Decline, IntentStatus
from entrypoints.sandbox.stripe_errors import stripe_error


def intent_object(intent: PaymentIntent) -> dict[str, Any]:
    """A `payment_intent`; a decline costs it its payment method, and before the bank is asked it has no charge."""
    return {
        "id": intent.intent_id,
        "object": "payment_intent",
        "amount": intent.amount,
        "amount_received": intent.amount if intent.status is IntentStatus.SUCCEEDED else 0,
        "currency": intent.currency,
        "customer": intent.customer,
        "payment_method": intent.payment_method if intent.decline is None else None,
        "metadata": dict(intent.metadata),
        "status": intent.status,
        "latest_charge": intent.charge_id if intent.tried_at_the_bank else None,
        "last_payment_error": None if intent.decline is None else _card_error(intent, intent.decline),
        "created": intent.created,
        "livemode": False,
    }


def refund_object(refund: Refund) -> dict[str, Any]:
    """A `refund`."""
    return {
        "id": refund.refund_id,
        "object": "refund",
        "amount": refund.amount,
        "currency": refund.intent.currency,
        "payment_intent": refund.intent.intent_id,
        "charge": refund.intent.charge_id,
        "status": refund.status,
        "metadata": dict(refund.metadata),
        "created": refund.created,
    }


def list_object(url: str, objects: Sequence[dict[str, Any]], has_more: bool) -> Answer:
    """One page of a list."""
    return json_answer(HTTPStatus.OK, {"object": "list", "url": url, "has_more": has_more, "data": objects})


def outcome(intent: PaymentIntent) -> Answer:
    """What a confirmed payment is answered with: the intent, or the decline with the intent in it."""
    if intent.decline is None:
        return json_answer(HTTPStatus.OK, intent_object(intent))
    return stripe_error(
        HTTPStatus.PAYMENT_REQUIRED,
        "card_error",
        intent.decline.message,
        code=intent.decline.code,
        decline_code=intent.decline.decline_code,
        charge=intent.charge_id,
        payment_intent=intent_object(intent),
    )


def _card_error(intent: PaymentIntent, decline: Decline) -> dict[str, str]:
    return {
        "type": "card_error",
        "code": decline.code,
        "decline_code": decline.decline_code,
        "message": decline.message,
        "charge": intent.charge_id,
    }
