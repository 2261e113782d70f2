"""A payment intent stopped at the provider, and how it stands after that."""

from http import HTTPStatus
from typing import Final

from adapters.calls.replies import NoReply
from adapters.stripe.answers import NotBelieved, ProvidersIntent, complaint_in, intent_in, intent_of, sorted_no
from adapters.stripe.calls import Line
from domain.operations import Answer, Outcome
from domain.payments import CANCELED

SUCCEEDED: Final = "succeeded"

_FINAL: Final = (CANCELED, SUCCEEDED)


async def canceled(line: Line, reference: str, key: str) -> ProvidersIntent | Answer:
    """Asks to stop a payment intent. Returns: the intent as it stands now, or why that is not known.

    Raises: NoReply, if there is none to the request to stop it.
    """
    reply = await line.ask(
        lambda client: client.v1.payment_intents.cancel_async(reference, options={"idempotency_key": key})
    )
    try:
        if reply.status == HTTPStatus.OK:
            return _this_one(intent_of(reply), reference)
        complaint = complaint_in(reply)
        if complaint is None or reply.status != HTTPStatus.BAD_REQUEST:
            return sorted_no(reply)
        # A no may be a stored one, so of what it shows only that is believed which never changes any more.
        shown = None if complaint.intent is None else _this_one(intent_in(complaint.intent), reference)
        if shown is not None and shown.status in _FINAL:
            return shown
    except NotBelieved as wrong:
        return Answer(Outcome.UNKNOWN, str(wrong))
    try:
        return await retrieved(line, reference)
    except (NoReply, NotBelieved) as reason:
        return Answer(Outcome.UNKNOWN, f"{complaint}; and then: {reason}")


async def retrieved(line: Line, reference: str) -> ProvidersIntent:
    """The payment intent as it stands now. Raises: NoReply, NotBelieved."""
    reply = await line.ask(lambda client: client.v1.payment_intents.retrieve_async(reference))
    return _this_one(intent_of(reply), reference)


def _this_one(intent: ProvidersIntent, reference: str) -> ProvidersIntent:
    if intent.reference != reference:
        raise NotBelieved(f"the provider answered for {intent.reference} when asked for {reference}")
    return intent
