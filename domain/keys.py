"""Names of business facts: identifiers as they come in, and the keys under which an effect happens once.

A key names the fact, never the job: no message id, time stamp or random value ever becomes part of one.
"""

import hashlib
import re
import string
import unicodedata
from typing import Final

from domain.errors import Malformed

MAX_IDENTIFIER_CHARACTERS: Final = 128  # enough for any shop, and a key of two such ids stays readable
MAX_PARCEL_NUMBER: Final = 2**31 - 1  # what its column holds
MAX_KEY_CHARACTERS: Final = 255  # the tightest limit among providers (Stripe's Idempotency-Key)
LONG_KEY_HEAD_CHARACTERS: Final = 190  # 190 + "~" + 64 hex digits = 255

_PLAIN_BYTES: Final = frozenset((string.ascii_letters + string.digits + "._-").encode())
_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]*")  # the same as one look, since most ids need no encoding
_FORBIDDEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, lone surrogates
_MAX_INTEGER: Final = 10**MAX_IDENTIFIER_CHARACTERS - 1


def identifier(field: str, value: object) -> str:
    """An id as another system gave it, in the one form in which we store and compare it.

    Shape: 1 to 128 characters, NFC, case-sensitive; a whole number counts as its digits.
    Raises: Malformed naming `field`.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value <= _MAX_INTEGER:
            raise Malformed(field, f"must be a whole number of at most {MAX_IDENTIFIER_CHARACTERS} digits, or a string")
        value = str(value)
    if not isinstance(value, str):
        raise Malformed(field, f"must be a string or a whole number, not {type(value).__name__}")
    clean_text(field, value)
    normal = unicodedata.normalize("NFC", value)
    if not 1 <= len(normal) <= MAX_IDENTIFIER_CHARACTERS:
        raise Malformed(field, f"must have 1 to {MAX_IDENTIFIER_CHARACTERS} characters, has {len(normal)}")
    if normal != normal.strip():
        raise Malformed(field, "must not begin or end with white space")
    return normal


def clean_text(field: str, value: str) -> str:
    """Text that every store and every provider can carry: no control characters, no lone surrogates."""
    forbidden = _FORBIDDEN.search(value)
    if forbidden is not None:
        raise Malformed(field, f"has a forbidden character U+{ord(forbidden[0]):04X} at position {forbidden.start()}")
    return value


def key(kind: str, *parts: str) -> str:
    """The name of one business fact, safe as a header value and never equal to that of another fact.

    Shape: `<kind>:<part>:<part>`, ASCII, at most 255 characters.
    """
    whole = ":".join((kind, *map(_encoded, parts)))
    if len(whole) <= MAX_KEY_CHARACTERS:
        return whole
    return whole[:LONG_KEY_HEAD_CHARACTERS] + "~" + hashlib.sha256(whole.encode("ascii")).hexdigest()


def _encoded(part: str) -> str:
    if _PLAIN.fullmatch(part):
        return part
    return "".join(chr(byte) if byte in _PLAIN_BYTES else f"%{byte:02X}" for byte in part.encode("utf-8"))


def grant_reason(revision: int | None = None) -> str:
    """Why an order's points were granted; an order confirmed once more after a cancel grants under its revision."""
    return "order_confirmed" if revision is None else f"order_confirmed#{revision}"


def shipment_request_key(order_id: str, number: int = 1) -> str:
    """Key: `shipment-request:<order_id>`, from the second parcel of the order on `:<number>`."""
    return _numbered("shipment-request", order_id, number)


def shipment_cancel_key(order_id: str, number: int = 1) -> str:
    """Key: `shipment-cancel:<order_id>`, from the second parcel of the order on `:<number>`."""
    return _numbered("shipment-cancel", order_id, number)


def label_key(order_id: str, number: int = 1) -> str:
    """Key: `label-download:<order_id>`, from the second parcel of the order on `:<number>`."""
    return _numbered("label-download", order_id, number)


def billing_key(customer_id: str, month: str, attempt: int = 1) -> str:
    """Key: `billing:<customer_id>:<YYYY-MM>`, after a definite decline `:<attempt>`."""
    return _numbered("billing", customer_id, attempt, month)


def billing_cancel_key(customer_id: str, month: str, attempt: int) -> str:
    """Key: `billing-cancel:<customer_id>:<YYYY-MM>:<attempt>`, which needs the attempt before to be cancelled first."""
    return key("billing-cancel", customer_id, month, str(attempt))


def refund_key(refund_id: str) -> str:
    """Key: `refund:<refund_id>`."""
    return key("refund", refund_id)


def mail_key(template: str, customer_id: str, trigger: str) -> str:
    """Key: `email:<template>:<customer_id>:<what triggered it>`."""
    return key("email", template, customer_id, trigger)


def parcel_number(value: object) -> int:
    """Which parcel of an order is meant, counted from 1. Raises: Malformed naming `number`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_PARCEL_NUMBER:
        raise Malformed("number", f"must be a whole number from 1 to {MAX_PARCEL_NUMBER}")
    return value


def _numbered(kind: str, subject: str, number: int, *more: str) -> str:
    if number < 1:
        raise Malformed("number", "must be 1 or more")
    return key(kind, subject, *more, *([] if number == 1 else [str(number)]))
