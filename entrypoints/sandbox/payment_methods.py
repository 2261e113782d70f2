"""Stripe's test payment methods, as far as we use them: what becomes of a payment and of its refunds."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class IntentStatus(StrEnum):
    """How far a payment has come, in Stripe's words."""

    SUCCEEDED = "succeeded"
    PROCESSING = "processing"
    REQUIRES_ACTION = "requires_action"
    DECLINED = "requires_payment_method"
    CANCELED = "canceled"


class RefundStatus(StrEnum):
    """How far a refund has come, in Stripe's words; a failed one has given the money back to us."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Decline:
    """Why the bank said no."""

    code: str
    decline_code: str
    message: str


@dataclass(frozen=True, slots=True)
class PaymentMethod:
    """What this method does; `succeeds_after_seconds` is for one that takes its time."""

    status: IntentStatus = IntentStatus.SUCCEEDED
    decline: Decline | None = None
    refund_status: RefundStatus = RefundStatus.SUCCEEDED
    succeeds_after_seconds: float | None = None


DECLINED: Final = Decline("card_declined", "generic_decline", "Your card was declined.")
_NO_MONEY: Final = Decline("card_declined", "insufficient_funds", "Your card has insufficient funds.")
_AUTHENTICATION: Final = Decline(
    "authentication_required", "authentication_required", "Your card was declined. It requires authentication."
)

PAYMENT_METHODS: Final[Mapping[str, PaymentMethod]] = {  # Source: docs.stripe.com/testing
    "pm_card_visa": PaymentMethod(),
    "pm_card_mastercard": PaymentMethod(),
    "pm_card_jp": PaymentMethod(),
    "pm_card_chargeDeclined": PaymentMethod(IntentStatus.DECLINED, DECLINED),
    "pm_card_chargeDeclinedInsufficientFunds": PaymentMethod(IntentStatus.DECLINED, _NO_MONEY),
    "pm_card_authenticationRequired": PaymentMethod(IntentStatus.DECLINED, _AUTHENTICATION),
    "pm_card_threeDSecure2Required": PaymentMethod(IntentStatus.REQUIRES_ACTION),
    # Minutes to days at a bank; two seconds, so that a test can see both ends of it.
    "pm_usBankAccount_processing": PaymentMethod(IntentStatus.PROCESSING, succeeds_after_seconds=2.0),
    "pm_card_pendingRefund": PaymentMethod(refund_status=RefundStatus.PENDING),
    "pm_card_refundFail": PaymentMethod(),  # its refunds succeed at first; the control route lets them fail later
}
