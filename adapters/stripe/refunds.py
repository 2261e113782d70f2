"""Money given back at Stripe: refunds of what was paid, and charges stopped while they are still being processed."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from stripe.params import RefundListParams

from adapters.calls.replies import NoReply, Reply
from adapters.stripe.amounts import asked
from adapters.stripe.answers import (
    NotBelieved,
    ProvidersIntent,
    ProvidersRefund,
    not_looked_up,
    refund_in,
    refund_of,
    sorted_no,
)
from adapters.stripe.calls import Line, Request, read_list
from adapters.stripe.cancellations import SUCCEEDED, canceled, retrieved
from adapters.stripe.charge_look_ups import PAGE_SIZE, as_look_up
from domain.operations import Answer, Finding, LookUp, Operation, Outcome
from domain.payments import CANCELED, PENDING, PROCESSING


async def refund(line: Line, operation: Operation) -> Answer:
    """Gives money back, or stops a charge. Result: `reference` and `status`."""
    if asked(operation)[0].denominator != 1:
        return Answer(Outcome.FLAGGED, f"the provider has no such fraction of {operation.content['currency']}")
    try:
        if operation.content["void"]:
            came = await canceled(line, operation.content["charge"], operation.key)
            return _voided(came, operation) if isinstance(came, ProvidersIntent) else came
        return refunded(await line.ask(_request(operation)), operation)
    except NoReply as none:
        return Answer(Outcome.UNKNOWN if none.was_sent else Outcome.NOT_SENT, str(none))


def refunded(reply: Reply, operation: Operation) -> Answer:
    """What became of a request for a refund."""
    if reply.status != HTTPStatus.OK:
        return sorted_no(reply)
    try:
        return _standing(refund_of(reply), operation)
    except NotBelieved as wrong:
        return Answer(Outcome.UNKNOWN, str(wrong))


def _request(operation: Operation) -> Request:
    content = operation.content
    return lambda client: client.v1.refunds.create_async(
        {
            "payment_intent": content["charge"],
            "amount": int(asked(operation)[0]),
            "metadata": {
                "ikkai_key": operation.key,
                "customer_id": content["customer_id"],
                "month": content["month"],
            },
        },
        {"idempotency_key": operation.key},
    )


async def look_up(line: Line, operation: Operation) -> LookUp:
    """What the provider knows of money to be given back. Result: `reference` and `status`."""
    try:
        if operation.content["void"]:
            return _found_void(await retrieved(line, operation.content["charge"]), operation)
        reference = operation.result.get("reference")
        if isinstance(reference, str):
            reply = await line.ask(lambda client: client.v1.refunds.retrieve_async(reference))
            return as_look_up(_standing(refund_of(reply), operation))
        return await _look_up_in_list(line, operation)
    except (NoReply, NotBelieved) as reason:
        return not_looked_up(reason)


async def _look_up_in_list(line: Line, operation: Operation) -> LookUp:
    found: list[ProvidersRefund] = []

    def read_page(objects: Sequence[Mapping[str, Any]]) -> bool:
        found.extend(one for one in map(refund_in, objects) if one.key == operation.key)
        return bool(found)

    await read_list(line, _pages(operation.content["charge"]), read_page)
    if not found:
        return LookUp(Finding.NOT_FOUND, "the provider does not know this refund")
    if len(found) > 1:
        all_of_them = ", ".join(f"{one.reference} {one.status}" for one in found)
        return LookUp(Finding.FLAGGED, f"{len(found)} refunds at the provider: {all_of_them}")
    return as_look_up(_standing(found[0], operation))


def _pages(charge: str) -> Callable[[str | None], Request]:
    def page_after(last: str | None) -> Request:
        params: RefundListParams = {"payment_intent": charge, "limit": PAGE_SIZE}
        if last is not None:
            params["starting_after"] = last
        return lambda client: client.v1.refunds.list_async(params)

    return page_after


def _standing(one: ProvidersRefund, operation: Operation) -> Answer:
    """What a refund at the provider means for the one that we asked for."""
    misfit = _misfit(one, operation)
    if misfit:
        return Answer(Outcome.FLAGGED, f"{one.reference}, {one.status}, does not fit: {misfit}")
    match one.status:
        case "succeeded":
            return Answer(Outcome.DONE, result={"reference": one.reference, "status": one.status})
        case "pending" | "requires_action":
            reason = f"at the provider it is {one.status}"
            return Answer(Outcome.RUNNING, reason, {"reference": one.reference, "status": PENDING})
        case "failed" | "canceled":
            reason = f"{one.status}: {one.failure}" if one.failure else one.status
            return Answer(Outcome.REFUSED, reason, {"reference": one.reference, "status": one.status})
        case _:
            return Answer(Outcome.FLAGGED, f"{one.reference} is {one.status}, which we do not know")


def _misfit(one: ProvidersRefund, operation: Operation) -> str:
    (amount, currency), charge = asked(operation), operation.content["charge"]
    if one.key != operation.key:
        return f"it is the refund {one.key}, not {operation.key}"
    if (one.amount, one.currency) != (amount, currency):
        return f"it is {one.amount} {one.currency} in place of {amount} {currency}"
    if one.charge not in (None, charge):
        return f"it is of {one.charge}, not of {charge}"
    return ""


def _voided(intent: ProvidersIntent, operation: Operation) -> Answer:
    """What a charge, as it stands after we asked to stop it, means for the money to be given back."""
    amount, currency = asked(operation)
    if (intent.amount, intent.currency) != (amount, currency):
        reason = f"{intent.reference} is {intent.amount} {intent.currency} in place of {amount} {currency}"
        return Answer(Outcome.FLAGGED, reason)
    if intent.status == CANCELED:
        return Answer(Outcome.DONE, result=intent.result)
    if intent.status == SUCCEEDED:
        return Answer(Outcome.REFUSED, "was paid before it could be stopped; ask for a refund", intent.result)
    if intent.status == PROCESSING:
        return Answer(Outcome.RUNNING, "the provider is processing it and does not stop it", intent.result)
    return Answer(Outcome.NOT_SENT, f"not stopped yet: {intent.reference} is {intent.status}")


def _found_void(intent: ProvidersIntent, operation: Operation) -> LookUp:
    answer = _voided(intent, operation)
    waits = answer.outcome is Outcome.RUNNING and operation.result.get("status") == PROCESSING
    if answer.outcome in (Outcome.DONE, Outcome.REFUSED, Outcome.FLAGGED) or waits:
        return as_look_up(answer)
    # The provider never said that it would not stop it, so it may be asked (again).
    return LookUp(Finding.NOT_FOUND, f"{intent.reference} is {intent.status}")
