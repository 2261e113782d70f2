"""Order events as the OpenAPI document describes them. What is enforced stands in `domain.orders.events`."""

from typing import Any, Final

from domain.customers import LOCALES
from domain.keys import MAX_IDENTIFIER_CHARACTERS
from domain.orders.events import EventType

_ID: Final = {
    "oneOf": [
        {"type": "string", "minLength": 1, "maxLength": MAX_IDENTIFIER_CHARACTERS},
        {"type": "integer", "minimum": 0, "description": "Taken as its digits."},
    ]
}
_NUMBER: Final = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
_AMOUNT: Final = {**_NUMBER, "description": "In the currency's minor unit: JPY 9899 = ¥9,899, USD 1799 = $17.99."}
_CURRENCY: Final = {"type": "string", "description": "ISO 4217.", "example": "JPY"}
_REVISION: Final = {**_NUMBER, "minimum": 1, "default": 1, "description": "An order obeys its highest revision."}
_TEXT: Final = {"type": ["string", "null"]}
_ADDRESS: Final = {
    "type": ["object", "null"],
    "required": ["name", "country"],
    "additionalProperties": _TEXT,
    "description": "Null or missing: nothing to ship.",
}


def _object(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


_CUSTOMER: Final = _object(
    ("customer_id",),
    customer_id=_ID,
    email=_TEXT,
    name=_TEXT,
    locale={"enum": list(LOCALES)},
    payment_method=_TEXT,
    payment_customer=_TEXT,
)
_CONFIRMED: Final = _object(
    ("order_id", "customer_id", "currency", "total"),
    order_id=_ID,
    revision=_REVISION,
    customer_id=_ID,
    currency=_CURRENCY,
    total=_AMOUNT,
    points={**_NUMBER, "description": "Missing: the earn rate on the total."},
    ship_to=_ADDRESS,
)
_CANCELLED: Final = _object(("order_id",), order_id=_ID, revision=_REVISION)
_REFUNDED: Final = _object(
    ("order_id", "refund_id", "amount", "currency"),
    order_id=_ID,
    revision=_REVISION,
    refund_id=_ID,
    amount={**_AMOUNT, "minimum": 1},
    currency=_CURRENCY,
)

EVENT_SCHEMA: Final = _object(
    ("specversion", "source", "id", "type", "time", "data"),
    specversion={"const": "1.0"},
    source={**_ID, "description": "With `id` it names the delivery."},
    id=_ID,
    type={"enum": list(EventType)},
    time={"type": "string", "format": "date-time", "description": "With an offset, at most 24 h ahead."},
    data={"anyOf": [_CUSTOMER, _CONFIRMED, _CANCELLED, _REFUNDED], "description": "According to `type`."},
)
