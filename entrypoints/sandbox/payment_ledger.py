"""What the payment provider really did: every payment and every refund, none removed, none merged."""

import secrets
import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from entrypoints.sandbox.ledger import Tally, tally
from entrypoints.sandbox.payment_methods import DECLINED, Decline, IntentStatus, PaymentMethod, RefundStatus

_OPEN: Final = (IntentStatus.PROCESSING, IntentStatus.REQUIRES_ACTION)


@dataclass(slots=True)
class Refund:
    """Money that went back, or is on its way; `key` is None if somebody made it by hand."""

    refund_id: str
    number: int
    created: int
    intent: "PaymentIntent"
    amount: int
    key: str | None
    metadata: Mapping[str, str]
    status: RefundStatus

    def settle(self, *, succeeded: bool) -> bool:
        """Success ends a pending one; failure may come late, but only once. Returns: whether it could be."""
        if self.status is RefundStatus.FAILED or (succeeded and self.status is not RefundStatus.PENDING):
            return False
        self.status = RefundStatus.SUCCEEDED if succeeded else RefundStatus.FAILED
        return True

    def row(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "customer_id": self.metadata.get("customer_id", self.intent.customer_id),
            "month": self.metadata.get("month", self.intent.month),
            "amount": self.amount,
            "currency": self.intent.currency.upper(),
            "status": self.status,
            "reference": self.refund_id,
            "charge": self.intent.intent_id,
        }


@dataclass(slots=True)
class PaymentIntent:
    """One payment that was tried."""

    intent_id: str
    charge_id: str
    number: int
    created: int
    amount: int
    currency: str
    customer: str | None
    payment_method: str
    method: PaymentMethod
    key: str | None
    metadata: Mapping[str, str]
    status: IntentStatus
    decline: Decline | None
    tried_at_the_bank: bool
    refunds: list[Refund] = field(default_factory=list)

    @property
    def customer_id(self) -> str | None:
        return self.metadata.get("customer_id")

    @property
    def month(self) -> str | None:
        return self.metadata.get("month")

    @property
    def refundable(self) -> int:
        """What remains of the payment: a failed refund has come back."""
        return self.amount - sum(refund.amount for refund in self.refunds if refund.status is not RefundStatus.FAILED)

    def settle(self, *, succeeded: bool) -> bool:
        """Ends a payment that is still open. Returns: whether it was."""
        if self.status not in _OPEN:
            return False
        self.status = IntentStatus.SUCCEEDED if succeeded else IntentStatus.DECLINED
        self.decline = None if succeeded else DECLINED
        self.tried_at_the_bank = True
        return True

    def cancel(self) -> bool:
        """Nobody can pay it any more. Returns: whether it could still be cancelled."""
        if self.status in (IntentStatus.SUCCEEDED, IntentStatus.CANCELED):
            return False
        self.status = IntentStatus.CANCELED
        return True

    def row(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "customer_id": self.customer_id,
            "month": self.month,
            "amount": self.amount,
            "currency": self.currency.upper(),
            "status": "declined" if self.status is IntentStatus.DECLINED else self.status,
            "reference": self.intent_id,
        }


class _Numbered(Protocol):
    @property
    def number(self) -> int: ...
    @property
    def created(self) -> int: ...


Entry = TypeVar("Entry", bound=_Numbered)


@dataclass(frozen=True, slots=True)
class PageWish:
    """Which part of a list is asked for. Units: `created_…` in Unix seconds, both included."""

    limit: int
    created_from: int | None = None
    created_to: int | None = None


def page(entries: Sequence[Entry], wish: PageWish, after: _Numbered | None) -> tuple[list[Entry], bool]:
    """Newest first, from behind `after`, found by halving. Returns: the entries, and whether there are more."""
    end, first = len(entries), 0
    if wish.created_to is not None:
        end = bisect_right(entries, wish.created_to, key=lambda entry: entry.created)
    if wish.created_from is not None:
        first = bisect_left(entries, wish.created_from, key=lambda entry: entry.created)
    if after is not None:
        end = min(end, bisect_left(entries, after.number, key=lambda entry: entry.number))
    begin = max(first, end - wish.limit)
    return list(reversed(entries[begin:end])), begin > first


class PaymentLedger:
    """All payments and refunds in the order in which they happened, found by id and by customer."""

    def __init__(self) -> None:
        self._world = secrets.token_hex(6)  # a world that is started again gives out no id twice
        self._newest = 0
        self._intents: dict[str, PaymentIntent] = {}
        self._refunds: dict[str, Refund] = {}
        self.intents: list[PaymentIntent] = []
        self.refunds: list[Refund] = []
        self._by_customer: defaultdict[str, list[PaymentIntent]] = defaultdict(list)
        self._by_customer_id: defaultdict[str, list[PaymentIntent]] = defaultdict(list)

    def pay(
        self,
        *,
        amount: int,
        currency: str,
        customer: str | None,
        payment_method: str,
        method: PaymentMethod,
        key: str | None,
        metadata: Mapping[str, str],
    ) -> PaymentIntent:
        """One more payment, even under a key that has one already: the ledger records and judges nothing."""
        number = len(self.intents) + 1
        intent = PaymentIntent(
            intent_id=self._id("pi", number),
            charge_id=self._id("ch", number),
            number=number,
            created=self._now(),
            amount=amount,
            currency=currency,
            customer=customer,
            payment_method=payment_method,
            method=method,
            key=key,
            metadata=metadata,
            status=method.status,
            decline=method.decline,
            tried_at_the_bank=method.status is not IntentStatus.REQUIRES_ACTION,
        )
        self._intents[intent.intent_id] = intent
        self.intents.append(intent)
        if customer is not None:
            self._by_customer[customer].append(intent)
        if intent.customer_id is not None:
            self._by_customer_id[intent.customer_id].append(intent)
        return intent

    def refund(self, intent: PaymentIntent, amount: int, key: str | None, metadata: Mapping[str, str]) -> Refund:
        """One more refund; whether it may be is for whoever asks to have checked."""
        number = len(self.refunds) + 1
        status = intent.method.refund_status
        refund = Refund(self._id("re", number), number, self._now(), intent, amount, key, metadata, status)
        self._refunds[refund.refund_id] = refund
        self.refunds.append(refund)
        intent.refunds.append(refund)
        return refund

    def intent(self, intent_id: str) -> PaymentIntent | None:
        return self._intents.get(intent_id)

    def refund_of_id(self, refund_id: str) -> Refund | None:
        return self._refunds.get(refund_id)

    def intents_of_customer(self, customer: str) -> Sequence[PaymentIntent]:
        """Key: the provider's name for the customer."""
        return self._by_customer.get(customer, ())

    def intents_of_customer_id(self, customer_id: str) -> Sequence[PaymentIntent]:
        """Key: the shop's name for the customer, from the metadata."""
        return self._by_customer_id.get(customer_id, ())

    def tally_charges(self) -> Tally:
        """What was paid or is about to be."""
        paid = (IntentStatus.SUCCEEDED, IntentStatus.PROCESSING)
        return tally(intent.key for intent in self.intents if intent.status in paid)

    def tally_refunds(self) -> Tally:
        """What went back or is about to."""
        return tally(refund.key for refund in self.refunds if refund.status is not RefundStatus.FAILED)

    def _id(self, kind: str, number: int) -> str:
        return f"{kind}_{self._world}{number:012d}"

    def _now(self) -> int:
        self._newest = max(self._newest, int(time.time()))  # never backwards, since lists are cut by halving
        return self._newest
