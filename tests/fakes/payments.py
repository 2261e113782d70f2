"""A payment provider in memory with its own ledger, and the table of refunds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.calendar import Month
from domain.money import Money
from domain.operations import Answer, Finding, LookUp, Operation, Outcome
from domain.payments import Charge, Refund, answered, further
from tests.fakes.billing import InMemoryBillBook
from tests.fakes.gateways import ScriptedGateway
from tests.fakes.operations import InMemoryOperationBook

# By payment method, in the provider's words; any other method pays.
STATUSES = {"pm_card_chargeDeclined": "requires_payment_method", "pm_bank": "processing"}

ANSWERS = {
    "succeeded": Outcome.DONE,
    "processing": Outcome.RUNNING,
    "pending": Outcome.RUNNING,
    "requires_payment_method": Outcome.REFUSED,
    "canceled": Outcome.REFUSED,
    "failed": Outcome.REFUSED,
}
FINDINGS = {Outcome.DONE: Finding.FOUND, Outcome.RUNNING: Finding.RUNNING, Outcome.REFUSED: Finding.REFUSED}


@dataclass(slots=True)
class ProvidersCharge:
    """A payment intent as the provider has it."""

    key: str
    reference: str
    money: Money
    payment_method: str
    status: str


@dataclass(slots=True)
class ProvidersRefund:
    """A refund as the provider has it; `charge` is the intent's reference."""

    key: str | None
    reference: str
    charge: str
    money: Money
    status: str


class FakePaymentGateway(ScriptedGateway):
    """`PaymentGateway` of a scripted provider.

    It pays back whatever it is asked to, so that nothing but our own rule keeps refunds below their charge. With
    `refunds_wait` they are pending until a test settles them.
    """

    def __init__(self, *, honours_keys: bool = True) -> None:
        super().__init__(honours_keys=honours_keys)
        self.charges: list[ProvidersCharge] = []
        self.refunds: list[ProvidersRefund] = []
        self.refunds_wait = False

    def charged(self, key: str) -> list[ProvidersCharge]:
        """Every intent that was ever made under `key`."""
        return [charge for charge in self.charges if charge.key == key]

    def paid(self) -> list[str]:
        """The keys of what was paid, one for each time."""
        return [charge.key for charge in self.charges if charge.status == "succeeded"]

    def refunded(self, charge: str) -> int:
        """What went back of a charge, or is on its way."""
        return sum(one.money.amount for one in self.refunds if one.charge == charge and one.status != "failed")

    def refund_by_hand(self, charge: str, amount: int) -> ProvidersRefund:
        """Somebody gives money back on the provider's own page."""
        money = Money(amount, next(one for one in self.charges if one.reference == charge).money.currency)
        self.refunds.append(ProvidersRefund(None, f"re_{len(self.refunds) + 1}", charge, money, "succeeded"))
        return self.refunds[-1]

    def charge_each(self, charges: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        return self._serve(charges, self._charge)

    def look_up_charges(self, charges: Sequence[Operation]) -> Sequence[LookUp]:
        return self._find(charges, lambda asked: _look_up(self.charged(asked.key)))

    def refund_each(self, refunds: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        return self._serve(refunds, self._refund)

    def look_up_refunds(self, refunds: Sequence[Operation]) -> Sequence[LookUp]:
        return self._find(refunds, self._look_up_refund)

    def _charge(self, asked: Operation) -> Answer:
        content = asked.content
        for replaced in self.charges:
            if replaced.reference == content["replaces"]:
                replaced.status = "canceled"
        method = content["payment_method"]
        self.charges.append(
            ProvidersCharge(
                asked.key,
                f"pi_{len(self.charges) + 1}",
                Money(content["amount"], content["currency"]),
                method,
                STATUSES.get(method, "succeeded"),
            )
        )
        return _answer(self.charges[-1])

    def _refund(self, asked: Operation) -> Answer:
        content = asked.content
        if content["void"]:
            return self._stop(content["charge"])
        money = Money(content["amount"], content["currency"])
        status = "pending" if self.refunds_wait else "succeeded"
        self.refunds.append(ProvidersRefund(asked.key, f"re_{len(self.refunds) + 1}", content["charge"], money, status))
        return _answer(self.refunds[-1])

    def _stop(self, reference: str) -> Answer:
        charge = next(one for one in self.charges if one.reference == reference)
        result = {"reference": reference, "status": "canceled"}
        if charge.status == "processing":
            charge.status = "canceled"
        if charge.status != "canceled":
            return Answer(Outcome.REFUSED, f"it is {charge.status}, too late to stop it", result)
        return Answer(Outcome.DONE, result=result)

    def _look_up_refund(self, asked: Operation) -> LookUp:
        if not asked.content["void"]:
            return _look_up([one for one in self.refunds if one.key == asked.key])
        charge = next(one for one in self.charges if one.reference == asked.content["charge"])
        result = {"reference": charge.reference, "status": charge.status}
        return LookUp(Finding.FOUND if charge.status == "canceled" else Finding.NOT_FOUND, result=result)


def _answer(one: ProvidersCharge | ProvidersRefund) -> Answer:
    result = {"reference": one.reference, "status": one.status}
    return Answer(ANSWERS[one.status], f"it is {one.status}", result)


def _look_up(found: Sequence[ProvidersCharge | ProvidersRefund]) -> LookUp:
    if not found:
        return LookUp(Finding.NOT_FOUND)
    answer = _answer(found[0])
    return LookUp(FINDINGS[answer.outcome], answer.reason, answer.result)


class InMemoryRefundBook:
    """`RefundBook` over a dictionary in the order of asking."""

    def __init__(self, bills: InMemoryBillBook, operations: InMemoryOperationBook) -> None:
        self._bills = bills
        self._operations = operations
        self.refunds: dict[str, Refund] = {}

    def charge(self, customer_id: str, month: str, *, lock: bool = False) -> Charge | None:
        bill = self._bills.get(customer_id, Month.parse("month", month))
        if bill is None or bill.operation is None:
            return None
        return Charge(customer_id, month, Money(bill.total, bill.currency), bill.operation)

    def charge_by_reference(self, reference: str) -> Charge | None:
        charges = (self.charge(customer_id, str(month)) for customer_id, month in self._bills.issued)
        return next((one for one in charges if one is not None and one.reference == reference), None)

    def get(self, refund_id: str) -> Refund | None:
        heard = self.refunds.get(refund_id)
        return None if heard is None else self._as_it_stands(heard)

    def by_key(self, key: str) -> Refund | None:
        return next((self._as_it_stands(one) for one in self.refunds.values() if one.key == key), None)

    def of_charge(self, customer_id: str, month: str) -> Sequence[Refund]:
        asked = [one for one in self.refunds.values() if (one.customer_id, one.month) == (customer_id, month)]
        return [self._as_it_stands(one) for one in asked]

    def of_customer(self, customer_id: str) -> Sequence[Refund]:
        return [self._as_it_stands(one) for one in self.refunds.values() if one.customer_id == customer_id]

    def add(self, refund: Refund) -> bool:
        if refund.refund_id in self.refunds or self._is_taken(refund):
            return False
        self.refunds[refund.refund_id] = refund
        return True

    def hear(self, refund: Refund) -> None:
        twins = [one for one in self.refunds.values() if one.reference == refund.reference and one.origin == "provider"]
        for twin in twins:
            if twin.refund_id != refund.refund_id:
                del self.refunds[twin.refund_id]
        assert not self._is_taken(refund), f"{refund.reference} is another refund's, too"
        known = self.refunds[refund.refund_id]
        self.refunds[refund.refund_id] = replace(known, state=refund.state, reference=refund.reference)

    def _is_taken(self, refund: Refund) -> bool:
        """Whether another refund was heard of under the provider's id of this one."""
        others = (one for one in self.refunds.values() if one.refund_id != refund.refund_id)
        return refund.reference is not None and any(one.reference == refund.reference for one in others)

    def _as_it_stands(self, heard: Refund) -> Refund:
        """What was heard, and what the provider has answered us."""
        operation = self._operations.get(heard.key)
        if operation is None:
            return heard
        reference = heard.reference or operation.result.get("reference")
        return replace(
            heard,
            state=further(heard.state, answered(operation.state, operation.result.get("status"))),
            reference=reference,
        )
