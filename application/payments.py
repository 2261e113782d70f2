"""Money: charged once per bill, given back once per refund, never more than was paid."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from application.operations import OperationBooks, PerformOperations
from application.transactions import Clock, Transactions
from application.workers import SOON_SECONDS, WorkOff
from domain.billing.periods import billing_month
from domain.errors import Conflict, LostRace, Malformed, Refused
from domain.keys import identifier
from domain.money import MAX_AMOUNT, Money
from domain.operations import Answer, LookUp, Operation, OperationBook, Policy, Registration, State, Step
from domain.payments import (
    ADOPTED,
    CHARGE,
    REFUND,
    Charge,
    Notice,
    Refund,
    RefundBook,
    RefundState,
    further,
    joined,
    refund_of,
)


class PaymentGateway(Protocol):
    """The payment provider. Each call ends by its deadline with a sorted answer; none raises for what it does.

    Shape: the frozen requests of `domain.payments.ChargeRequest` and `Refund`.
    Units: `began` in seconds of the monotonic clock, from when the deadline counts: from before the gate.
    """

    @property
    def account(self) -> str:
        """Whom we are there, without the secret: another account knows nothing of what this one was asked."""
        ...

    def charge_each(self, charges: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        """Charges stored payment methods, each under its key; what an attempt replaces is cancelled there first.

        Result: `reference`, the provider's id (of a declined one, too), and `status` in its words.
        """
        ...

    def look_up_charges(self, charges: Sequence[Operation]) -> Sequence[LookUp]:
        """What the provider knows of charges asked for before, by our key, from its own list."""
        ...

    def refund_each(self, refunds: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        """Gives money back, or stops a charge that is still being processed, each under its key.

        Result: `reference` and `status`; RUNNING while the provider has it pending.
        """
        ...

    def look_up_refunds(self, refunds: Sequence[Operation]) -> Sequence[LookUp]:
        """What the provider knows of refunds asked for before, by our key, from its own list."""
        ...


class RefundBooks(Protocol):
    """The books that refunds write."""

    @property
    def refunds(self) -> RefundBook: ...
    @property
    def operations(self) -> OperationBook: ...


class PaymentPerformer:
    """Performs one kind of work at the payment provider. Our own books never answer for it."""

    def __init__(
        self,
        kind: str,
        policy: Policy,
        account: str,
        call_each: Callable[..., Sequence[Answer]],
        look_up_each: Callable[[Sequence[Operation]], Sequence[LookUp]],
    ) -> None:
        self.kind = kind
        self.policy = policy
        self.provider = f"{policy}:{account}"
        self._call_each = call_each
        self._look_up_each = look_up_each

    def foregone(self, books: OperationBooks, operations: Sequence[Operation]) -> Mapping[str, Answer]:
        return {}

    def call_each(self, operations: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        return self._call_each(operations, began=began)

    def look_up_each(self, operations: Sequence[Operation]) -> Sequence[LookUp]:
        return self._look_up_each(operations)


def charge_performer(gateway: PaymentGateway, policy: Policy) -> PaymentPerformer:
    """Performs `billing`: one charge each at the provider."""
    return PaymentPerformer(CHARGE, policy, gateway.account, gateway.charge_each, gateway.look_up_charges)


def refund_performer(gateway: PaymentGateway, policy: Policy) -> PaymentPerformer:
    """Performs `refund`: money that goes back, or a charge that is stopped."""
    return PaymentPerformer(REFUND, policy, gateway.account, gateway.refund_each, gateway.look_up_refunds)


class RequestRefund:
    """Asks for money to go back, once per refund id and never more than was paid."""

    def __init__(self, transactions: Transactions[RefundBooks]) -> None:
        self._transactions = transactions

    def execute(self, refund_id: object, customer_id: object, month: object, amount: object = None) -> Refund:
        """Asking again under the same id answers with the refund that is stored. No amount means what remains.

        Raises: Malformed naming the field, Conflict for an id known with other content, Refused where the charge is not
        paid or less remains.
        """
        refund = identifier("refund_id", refund_id)
        if refund.startswith(ADOPTED):
            raise Malformed("refund_id", f"must not begin with {ADOPTED}")
        customer, which = identifier("customer_id", customer_id), str(billing_month("month", month))
        asked = None if amount is None else _amount(amount)
        return self._transactions.run(lambda books: _asked_for(books, refund, customer, which, asked))


@dataclass(frozen=True, slots=True)
class RefundReport:
    """A refund as it stands, and the work of asking the provider for it."""

    refund: Refund
    operation: Operation

    @property
    def is_left(self) -> bool:
        """Whether it has not come to the provider, and was given up or put off."""
        left = self.operation.state in (State.PARKED, State.READY)
        return left and self.refund.state is RefundState.REQUESTED


class SendRefund:
    """Asks for a refund and sees it sent: by the workers, or where none is alive by itself."""

    def __init__(
        self,
        transactions: Transactions[RefundBooks],
        request: RequestRefund,
        perform_refunds: PerformOperations,
        work_off: WorkOff,
        clock: Clock,
    ) -> None:
        self._transactions = transactions
        self._request = request
        self._clock = clock
        self._perform_refunds = perform_refunds
        self._work_off = work_off

    def execute(
        self, refund_id: object, customer_id: object, month: object, amount: object = None, *, wait: bool = True
    ) -> RefundReport:
        """Returns when the provider has it (or at once, without `wait`). Raises: as `RequestRefund` does."""
        asked_for = self._request.execute(refund_id, customer_id, month, amount)
        if wait:
            self._work_off.while_true(lambda: self._is_owed(asked_for), lambda: 1)
        return self._report(asked_for)

    def at_once(self, refund_id: object, customer_id: object, month: object, amount: object = None) -> None:
        """Asks for it and sends it, unless somebody else does so right now. Raises: as `RequestRefund` does."""
        self._perform_refunds.execute(1, key=self._request.execute(refund_id, customer_id, month, amount).key)

    def _is_owed(self, refund: Refund) -> bool:
        """Whether it is on its way to the provider, or soon will be; what is pending there may be so for days."""
        report = self._report(refund)
        if report.operation.state is State.PROCESSING:
            return True
        next_at = report.operation.next_at
        soon = next_at is not None and next_at <= self._clock.now() + timedelta(seconds=SOON_SECONDS)
        return report.operation.state is State.READY and report.refund.state is RefundState.REQUESTED and soon

    def _report(self, refund: Refund) -> RefundReport:
        def read(books: RefundBooks) -> RefundReport:
            operation = books.operations.get(refund.key)
            assert operation is not None, "it was stored together with the refund"
            return RefundReport(books.refunds.get(refund.refund_id) or refund, operation)

        return self._transactions.run(read)


def _amount(amount: object) -> int:
    if isinstance(amount, bool) or not isinstance(amount, int) or not 1 <= amount <= MAX_AMOUNT:
        raise Malformed("amount", f"must be a whole number of minor units from 1 to {MAX_AMOUNT}")
    return amount


def _asked_for(books: RefundBooks, refund_id: str, customer_id: str, month: str, amount: int | None) -> Refund:
    known = books.refunds.get(refund_id)
    if known is not None:
        return _answered(known, customer_id, month, amount)
    charge = books.refunds.charge(customer_id, month, lock=True)
    known = books.refunds.get(refund_id)  # asked again under the lock: the same request may have been quicker
    if known is not None:
        return _answered(known, customer_id, month, amount)
    if charge is None:
        raise Refused(f"customer {customer_id} was not charged for {month}", field="month")
    if charge.reference is None and charge.is_paid:
        raise Refused("the charge has no id of the provider; nothing can be given back there", field="month")
    new = refund_of(charge, joined(books.refunds.of_charge(customer_id, month)), refund_id, amount)
    if not books.refunds.add(new):
        raise LostRace("this refund id was taken meanwhile, for another charge")
    if books.operations.register_each([new.as_operation(str(charge.reference))])[0] is Registration.CONFLICT:
        raise Conflict(f"{new.key} is known with other content")
    return new


def _answered(known: Refund, customer_id: str, month: str, amount: int | None) -> Refund:
    if (known.customer_id, known.month) != (customer_id, month) or amount not in (None, known.money.amount):
        told = f"{known.money.amount} {known.money.currency} of {known.month} to {known.customer_id}"
        raise Conflict(f"refund {known.refund_id} is known with other content: {told}")
    return known


class TakeNotice:
    """Takes in what the provider tells by itself; late, repeated and out of order notices end alike."""

    def __init__(self, transactions: Transactions[RefundBooks]) -> None:
        self._transactions = transactions

    def execute(self, notice: Notice) -> bool:
        """Returns: whether it was about anything of ours."""
        return self._transactions.run(lambda books: _taken(books, notice))


def _taken(books: RefundBooks, notice: Notice) -> bool:
    heard = _told_of_refund(books, notice) if notice.kind == REFUND else False
    operation = None if notice.key is None else books.operations.get(notice.key, lock=True)
    if operation is None:
        return heard
    # Of a charge, only our own look-up is believed; this one is made soon.
    if notice.paid and operation.state is State.REFUSED and operation.result.get("reference") == notice.reference:
        step = Step(State.NEEDS_CONFIRMATION, "the provider tells that it was paid after all")
        books.operations.decide(operation.key, State.REFUSED, step, by="provider", evidence="notice")
    books.operations.hasten(operation.key)
    return True


def _told_of_refund(books: RefundBooks, notice: Notice) -> bool:
    known = None if notice.key is None else books.refunds.by_key(notice.key)
    of = known or (None if notice.charge is None else books.refunds.charge_by_reference(notice.charge))
    if of is None:
        return False
    charge = books.refunds.charge(of.customer_id, of.month, lock=True)
    refunds = joined(books.refunds.of_charge(of.customer_id, of.month))
    meant = next((one for one in refunds if one.reference == notice.reference), None)
    if meant is None:
        meant = next((one for one in refunds if one.key == notice.key and one.reference is None), None)
    if meant is not None:
        state = further(meant.state, notice.state or meant.state)
        books.refunds.hear(replace(meant, reference=notice.reference, state=state))
    elif notice.money is not None and _can_be_adopted(notice.money, charge):
        # Made by hand at the provider, or a second one that it made of ours.
        books.refunds.add(
            Refund(
                f"{ADOPTED}{notice.reference}",
                of.customer_id,
                of.month,
                notice.money,
                notice.state or RefundState.REQUESTED,
                notice.reference,
                origin="provider",
            )
        )
    return True


def _can_be_adopted(money: Money, charge: Charge | None) -> bool:
    return charge is not None and money.amount > 0 and money.currency == charge.money.currency
