"""Charges and refunds as the books hand them to the gateway, and what an honest provider says of them."""

from typing import Any

from domain.money import Money
from domain.operations import NewOperation, Operation, State
from domain.payments import ChargeRequest, Refund

MONTH = "2026-09"
PRICE = Money(9899, "JPY")
INTENT = "pi_1"
REFUND = "re_1"


def charge(
    customer_id: str = "c-1",
    money: Money = PRICE,
    *,
    attempt: int = 1,
    payment_method: str = "pm_card_visa",
    payment_customer: str | None = None,
    replaces: str | None = None,
    **other: Any,
) -> Operation:
    """A bill to be charged; `other` is what the books know of it besides."""
    request = ChargeRequest(
        customer_id, MONTH, attempt, money, "2026-000017", payment_method, payment_customer, replaces
    )
    return _claimed(request.as_operation(), other)


def refund(
    refund_id: str = "r-1",
    money: Money = PRICE,
    *,
    of: str = INTENT,
    void: bool = False,
    **other: Any,
) -> Operation:
    """Money to be given back of a charge; `other` is what the books know of it besides."""
    return _claimed(Refund(refund_id, "c-1", MONTH, money, void=void).as_operation(of), other)


def intent(operation: Operation | None = None, /, **other: Any) -> dict[str, Any]:
    """The provider's honest answer for a paid charge, or one with `other` content."""
    asked = operation or charge()
    amount = asked.content["amount"]
    return {
        "id": INTENT,
        "object": "payment_intent",
        "amount": amount,
        "amount_received": amount,
        "currency": asked.content["currency"].lower(),
        "metadata": {"ikkai_key": asked.key, "customer_id": asked.subject, "month": MONTH},
        "status": "succeeded",
        "last_payment_error": None,
    } | other


def refund_object(operation: Operation | None = None, /, **other: Any) -> dict[str, Any]:
    """The provider's honest answer for money given back, or one with `other` content."""
    asked = operation or refund()
    return {
        "id": REFUND,
        "object": "refund",
        "amount": asked.content["amount"],
        "currency": asked.content["currency"].lower(),
        "payment_intent": asked.content["charge"],
        "metadata": {"ikkai_key": asked.key},
        "status": "succeeded",
    } | other


def error(kind: str = "invalid_request_error", /, **other: Any) -> dict[str, Any]:
    """A complaint in the provider's own form."""
    return {"error": {"type": kind, "message": "No."} | other}


def listing(*objects: dict[str, Any], has_more: bool = False) -> dict[str, Any]:
    """One page of a list."""
    return {"object": "list", "url": "/v1/things", "has_more": has_more, "data": list(objects)}


def _claimed(new: NewOperation, other: dict[str, Any]) -> Operation:
    return Operation(
        new.key, new.kind, new.subject, new.number, new.request, State.PROCESSING, epoch=1, attempts=1, **other
    )
