"""What Stripe tells by itself: believed if it is signed with our secret and fresh."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import stripe

from adapters.stripe.amounts import told as amount_told
from domain.errors import Malformed, Refused
from domain.payments import CHARGE, REFUND, Notice, RefundState
from domain.strict_json import read_json

TOLERANCE_SECONDS: Final = 300  # Source: the default of Stripe's own libraries
_OF_REFUNDS: Final = ("refund.created", "refund.updated", "refund.failed", "charge.refund.updated")
_STATES: Final = {
    "pending": RefundState.PENDING,
    "requires_action": RefundState.PENDING,
    "succeeded": RefundState.SUCCEEDED,
    "failed": RefundState.FAILED,
    "canceled": RefundState.FAILED,
}


def read_notice(body: bytes, signature: str | None, secret: str, *, now: datetime) -> Notice | None:
    """The notice in a request to our web hook, None if it is about nothing that concerns us.

    Raises: Refused for a signature that is missing, wrong or old; Malformed naming the part that cannot be read.
    """
    _check(body, signature, secret, now)
    event = _member("body", read_json(body))
    kind = event.get("type")
    if not isinstance(kind, str):
        raise Malformed("type", "must be a string")
    if not (kind.startswith("payment_intent.") or kind in _OF_REFUNDS):
        return None
    told = _member("data.object", _member("data", event.get("data")).get("object"))
    metadata = told.get("metadata")
    key = _text_or_none("metadata.ikkai_key", metadata.get("ikkai_key")) if isinstance(metadata, dict) else None
    reference = _text("id", told.get("id"))
    if kind not in _OF_REFUNDS:
        return Notice(CHARGE, reference, key, paid=kind == "payment_intent.succeeded")
    return Notice(
        REFUND,
        reference,
        key,
        charge=_text_or_none("payment_intent", told.get("payment_intent")),
        money=amount_told(told.get("amount"), _text("currency", told.get("currency"))),
        state=_state(told.get("status")),
    )


def _check(body: bytes, signature: str | None, secret: str, now: datetime) -> None:
    if signature is None or not signature.isascii():
        raise Refused("is missing, or not ASCII", field="signature")
    try:
        text = body.decode()
    except UnicodeDecodeError as wrong:
        raise Malformed("body", f"is not UTF-8 at byte {wrong.start}") from None
    try:
        # Without a tolerance, since the SDK would measure it by the machine's clock.
        stripe.WebhookSignature.verify_header(text, signature, secret)
    except stripe.SignatureVerificationError:
        raise Refused("is not one of this body under our secret", field="signature") from None
    # Signed with the body, and read as the SDK has read it: the first of its name, up to a second "=".
    signed_at = int(next(part[1] for part in (item.split("=") for item in signature.split(",")) if part[0] == "t"))
    if signed_at < now.timestamp() - TOLERANCE_SECONDS:
        raise Refused(f"is older than {TOLERANCE_SECONDS} s", field="signature")


def _member(name: str, content: object) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise Malformed(name, "must be a JSON object")
    return content


def _text(name: str, content: object) -> str:
    # What is not printable cannot be stored, shown or sent back.
    if isinstance(content, str) and 0 < len(content) <= 255 and content.isprintable():
        return content
    raise Malformed(name, "must be a string of 1 to 255 printable characters")


def _text_or_none(name: str, content: object) -> str | None:
    return None if content is None else _text(name, content)


def _state(status: object) -> RefundState:
    if isinstance(status, str) and status in _STATES:
        return _STATES[status]
    raise Malformed("status", "must be one of those that refunds have")
