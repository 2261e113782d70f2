"""Money through the payment provider: what is asked of it for a bill, and what goes back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Protocol

from domain.canonical import canonical_json
from domain.errors import Refused
from domain.keys import billing_key, refund_key
from domain.money import Money
from domain.operations import NewOperation, Operation, State

CHARGE: Final = "billing"
REFUND: Final = "refund"

# What the gateway says of a charge or refund that is not over, or was stopped. `status` in a result.
PROCESSING: Final = "processing"
PENDING: Final = "pending"
CANCELED: Final = "canceled"

# Refunds that somebody made at the provider by hand are adopted under ids that ours cannot have.
ADOPTED: Final = "provider:"


@dataclass(frozen=True, slots=True)
class ChargeRequest:
    """One attempt to charge one bill. Key: `billing:<customer_id>:<month>[:<attempt>]`.

    `replaces` is the provider's id of the declined attempt before, to be cancelled there first, so that one bill never
    has two payable ones.
    """

    customer_id: str
    month: str
    attempt: int
    money: Money
    bill_number: str
    payment_method: str
    payment_customer: str | None
    replaces: str | None = None

    @property
    def key(self) -> str:
        return billing_key(self.customer_id, self.month, self.attempt)

    def as_operation(self) -> NewOperation:
        """The charge as something that must happen once, its request frozen."""
        request = {
            "amount": self.money.amount,
            "bill": self.bill_number,
            "currency": self.money.currency,
            "customer_id": self.customer_id,
            "month": self.month,
            "payment_customer": self.payment_customer,
            "payment_method": self.payment_method,
            "replaces": self.replaces,
        }
        return NewOperation(self.key, CHARGE, self.customer_id, self.attempt, canonical_json(request))


class RefundState(StrEnum):
    """How far money on its way back has come."""

    REQUESTED = "requested"
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


# What is heard of a refund may come twice and out of order; it only ever moves on (a success may still fail late).
_FURTHER: Final = (RefundState.REQUESTED, RefundState.PENDING, RefundState.SUCCEEDED, RefundState.FAILED)


def further(one: RefundState, other: RefundState) -> RefundState:
    """Whichever of two reports of one refund is the later one."""
    return max(one, other, key=_FURTHER.index)


def answered(state: State | None, status: str | None) -> RefundState:
    """How far a refund has come by the provider's answers alone: the state of asking for it, and what it said last."""
    match state:
        case State.COMPLETED:
            return RefundState.SUCCEEDED
        case State.REFUSED:
            return RefundState.FAILED
        case _:
            return RefundState.PENDING if status == PENDING else RefundState.REQUESTED


@dataclass(frozen=True, slots=True)
class Charge:
    """The charge of a bill as it stands: what can be given back. `reference` is the provider's id of it."""

    customer_id: str
    month: str
    money: Money
    operation: Operation | None

    @property
    def reference(self) -> str | None:
        return None if self.operation is None else self.operation.result.get("reference")

    @property
    def is_paid(self) -> bool:
        return self.operation is not None and self.operation.state is State.COMPLETED

    @property
    def is_processing(self) -> bool:
        """Whether the provider has it in hand: it can be stopped as a whole, but not be given back in part."""
        if self.operation is None or self.operation.state is not State.READY or self.reference is None:
            return False
        return self.operation.result.get("status") == PROCESSING


@dataclass(frozen=True, slots=True)
class Refund:
    """Money that goes back. Key: `refund:<refund_id>`.

    `origin`: `ikkai`, or `provider` where somebody made it there by hand; `void`: the charge was stopped instead.
    """

    refund_id: str
    customer_id: str
    month: str
    money: Money
    state: RefundState = RefundState.REQUESTED
    reference: str | None = None
    origin: str = "ikkai"
    void: bool = False

    @property
    def key(self) -> str:
        return refund_key(self.refund_id)

    def as_operation(self, charge: str) -> NewOperation:
        """The refund as something that must happen once; `charge` is the provider's id of what was paid."""
        request = {
            "amount": self.money.amount,
            "charge": charge,
            "currency": self.money.currency,
            "customer_id": self.customer_id,
            "month": self.month,
            "void": self.void,
        }
        return NewOperation(self.key, REFUND, self.customer_id, 1, canonical_json(request))


def joined(refunds: Sequence[Refund]) -> list[Refund]:
    """Each refund once: what was heard of it before our own answer came is the same refund, by the provider's id."""
    ours = {one.reference: one for one in refunds if one.origin == "ikkai"}
    heard = {one.reference: one for one in refunds if one.origin != "ikkai"}
    kept = []
    for one in refunds:
        if one.origin != "ikkai" and one.reference in ours:
            continue
        twin = heard.get(one.reference) if one.reference is not None else None
        kept.append(one if twin is None else replace(one, state=further(one.state, twin.state)))
    return kept


def remaining(charge: Charge, refunds: Sequence[Refund]) -> int:
    """What of a charge can still go back: all but what has gone, or may be on its way. Units: minor."""
    gone = sum(one.money.amount for one in refunds if one.state is not RefundState.FAILED)
    return max(0, charge.money.amount - gone)  # by hand at the provider, more may have gone


def refund_of(charge: Charge, refunds: Sequence[Refund], refund_id: str, amount: int | None) -> Refund:
    """The refund that may be made of this charge; no amount means what remains.

    Raises: Refused where the charge is not paid, or less remains than is asked for.
    """
    left = remaining(charge, refunds)
    asked = left if amount is None else amount
    if charge.is_processing:
        if asked != charge.money.amount:
            raise Refused("the charge is still being processed; it can be stopped as a whole only", field="amount")
    elif not charge.is_paid:
        state = "not asked for" if charge.operation is None else str(charge.operation.state)
        raise Refused(f"{charge.customer_id} has not paid for {charge.month}: the charge is {state}", field="month")
    if asked < 1 or asked > left:
        raise Refused(f"{left} of {charge.money.amount} {charge.money.currency} remain to be refunded", field="amount")
    money = Money(asked, charge.money.currency)
    return Refund(refund_id, charge.customer_id, charge.month, money, void=charge.is_processing)


@dataclass(frozen=True, slots=True)
class Notice:
    """What the provider tells by itself; signed, but perhaps late, twice or out of order.

    `kind`: which of our kinds of work it is about. `key`: our key, if the provider was given it. `reference` is the
    provider's id of what it is about; `paid` is told of charges, `charge`, `money` and `state` of refunds only.
    """

    kind: str
    reference: str
    key: str | None = None
    charge: str | None = None
    money: Money | None = None
    state: RefundState | None = None
    paid: bool = False


class RefundBook(Protocol):
    """The table of refunds, and the charges they are refunds of."""

    def charge(self, customer_id: str, month: str, *, lock: bool = False) -> Charge | None:
        """The charge of a bill; locked, nobody else decides about its refunds meanwhile."""
        ...

    def charge_by_reference(self, reference: str) -> Charge | None:
        """The charge that the provider knows by this id."""
        ...

    def get(self, refund_id: str) -> Refund | None: ...

    def by_key(self, key: str) -> Refund | None:
        """The refund that is asked for under this key."""
        ...

    def of_charge(self, customer_id: str, month: str) -> Sequence[Refund]:
        """Every refund of a bill's charge, the oldest first."""
        ...

    def of_customer(self, customer_id: str) -> Sequence[Refund]:
        """Every refund of a customer, the oldest first."""
        ...

    def add(self, refund: Refund) -> bool:
        """Stores a refund; false when its id is taken."""
        ...

    def hear(self, refund: Refund) -> None:
        """Keeps what the provider said of a refund: its id there, and its state, which only ever moves on.

        What was adopted under that id before it was known to be ours is the same refund, and goes.
        """
        ...
