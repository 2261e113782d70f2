"""Charges at Stripe: one confirmed payment intent per bill, asked for under its key and found by it."""

from http import HTTPStatus
from typing import Final, cast

from stripe.params import PaymentIntentCreateParams

from adapters.calls.replies import NoReply, Reply
from adapters.stripe.amounts import asked
from adapters.stripe.answers import (
    STORED,
    Complaint,
    NotBelieved,
    ProvidersIntent,
    complaint_in,
    intent_in,
    intent_of,
    sorted_no,
)
from adapters.stripe.calls import Line
from adapters.stripe.cancellations import SUCCEEDED, canceled
from domain.keys import billing_cancel_key
from domain.operations import Answer, Operation, Outcome
from domain.payments import CANCELED, PROCESSING

_WRONG_AMOUNTS: Final = ("amount_too_small", "amount_too_large")
_NOT_PAID: Final = (CANCELED, "requires_action", "requires_payment_method")
# A look-up may meet our own request while it is still at work there: until an error says so, nothing is declined.
_NOT_YET: Final = ("requires_confirmation", "requires_payment_method")


async def charge(line: Line, operation: Operation) -> Answer:
    """Asks for one charge, after what it replaces is surely canceled. Result: `reference` and `status`."""
    if asked(operation)[0].denominator != 1:
        return Answer(Outcome.FLAGGED, f"the provider has no such fraction of {operation.content['currency']}")
    replaced = operation.content["replaces"]
    try:
        obstacle = None if replaced is None else await _obstacle(line, replaced, _key_to_cancel(operation))
    except NoReply as none:
        return Answer(Outcome.NOT_SENT, f"the attempt before, {replaced}, was not canceled: {none}")
    if obstacle is not None:
        return obstacle
    try:
        reply = await line.ask(
            lambda client: client.v1.payment_intents.create_async(
                _request(operation), {"idempotency_key": operation.key}
            )
        )
    except NoReply as none:
        return Answer(Outcome.UNKNOWN if none.was_sent else Outcome.NOT_SENT, str(none))
    return charged(reply, operation)


def charged(reply: Reply, operation: Operation) -> Answer:
    """What became of a request for a charge."""
    if reply.status == HTTPStatus.OK:
        try:
            return standing(intent_of(reply), operation)
        except NotBelieved as wrong:
            return Answer(Outcome.UNKNOWN, str(wrong))
    complaint = complaint_in(reply)
    if complaint is not None and reply.status == HTTPStatus.PAYMENT_REQUIRED:
        return _declined(complaint, operation)
    answer = sorted_no(reply)
    if answer.outcome is Outcome.REFUSED and complaint is not None and complaint.code in _WRONG_AMOUNTS:
        return Answer(Outcome.FLAGGED, answer.reason)  # no card's fault: the bill itself cannot be charged
    return answer


def _declined(complaint: Complaint, operation: Operation) -> Answer:
    if complaint.intent is None:
        return Answer(Outcome.REFUSED, str(complaint))
    try:
        intent = intent_in(complaint.intent)
    except NotBelieved as wrong:
        return Answer(Outcome.UNKNOWN, f"declined, but of the intent: {wrong}: {complaint}")
    answer = standing(intent, operation)
    if answer.outcome is Outcome.FLAGGED:
        return answer
    if intent.status not in _NOT_PAID:
        return Answer(Outcome.UNKNOWN, f"declined, and yet {intent.reference} is {intent.status}: {complaint}")
    return Answer(Outcome.REFUSED, str(complaint), intent.result)


def _request(operation: Operation) -> PaymentIntentCreateParams:
    """The frozen request in Stripe's words. It must never change: a key is good for the same bytes only."""
    content = operation.content
    amount, currency = asked(operation)
    request: dict[str, object] = {
        "amount": int(amount),
        "currency": currency,
        "payment_method": content["payment_method"],
        "confirm": True,
        "off_session": True,
        "payment_method_types": ["card"],
        "metadata": {
            "ikkai_key": operation.key,
            "customer_id": content["customer_id"],
            "month": content["month"],
            "bill": content["bill"],
        },
    }
    if content["payment_customer"]:
        request["customer"] = content["payment_customer"]
    return cast(PaymentIntentCreateParams, request)  # the SDK's words are those of a newer version of the API


def _key_to_cancel(operation: Operation) -> str:
    return billing_cancel_key(operation.content["customer_id"], operation.content["month"], operation.number)


async def _obstacle(line: Line, replaced: str, key: str) -> Answer | None:
    """Why the charge must not be asked for now: one bill never has two payable intents."""
    came = await canceled(line, replaced, key)
    if isinstance(came, ProvidersIntent):
        if came.status == CANCELED:
            return None
        if came.status == SUCCEEDED:
            reason = f"an earlier attempt was paid after all: {replaced}; resolve with --happened {replaced}"
            return Answer(Outcome.FLAGGED, reason, came.result)
        return Answer(Outcome.NOT_SENT, f"the attempt before, {replaced}, is still {came.status}")
    if came.outcome is Outcome.REFUSED:
        return Answer(Outcome.FLAGGED, f"the attempt before, {replaced}, cannot be canceled: {came.reason}")
    if came.outcome is Outcome.UNAVAILABLE and came.reason.startswith(STORED):
        return Answer(Outcome.FLAGGED, f"the attempt before, {replaced}, cannot be canceled: {came.reason}")
    reason = f"the attempt before, {replaced}, was not canceled: {came.reason}"
    return Answer(Outcome.NOT_SENT, reason, retry_after_seconds=came.retry_after_seconds)


def standing(intent: ProvidersIntent, operation: Operation) -> Answer:
    """What a payment intent means for the charge that we asked for."""
    misfit = _misfit(intent, operation)
    if misfit:
        # The next attempt will cancel what is kept here: nothing but an intent of ours.
        ours = intent.result if intent.key == operation.key else {}
        return Answer(Outcome.FLAGGED, f"{intent.reference}, {intent.status}, does not fit: {misfit}", ours)
    if intent.status == SUCCEEDED:
        return Answer(Outcome.DONE, result=intent.result)
    if intent.status == PROCESSING:
        return Answer(Outcome.RUNNING, "the provider is processing it", intent.result)
    if intent.status in _NOT_YET and not intent.error:
        return Answer(Outcome.RUNNING, f"not settled there yet: {intent.status}", intent.result)
    if intent.status in _NOT_PAID:
        reason = f"{intent.status}: {intent.error}" if intent.error else intent.status
        return Answer(Outcome.REFUSED, reason, intent.result)
    return Answer(Outcome.FLAGGED, f"{intent.reference} is {intent.status}, which we never ask for", intent.result)


def _misfit(intent: ProvidersIntent, operation: Operation) -> str:
    amount, currency = asked(operation)
    if intent.key != operation.key:
        return f"it is the charge {intent.key}, not {operation.key}"
    if (intent.amount, intent.currency) != (amount, currency):
        return f"it is {intent.amount} {intent.currency} in place of {amount} {currency}"
    if intent.status == SUCCEEDED and intent.received not in (None, amount):
        return f"{intent.received} of {amount} {currency} were received"
    return ""
