"""The run of a month: what is missing is created, what is owed is charged, and what became of all of it is told."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from application.billing.creation import BillingBooks, CreateBills, Digest, Failure
from application.operations import PerformOperations
from application.transactions import Transactions
from application.workers import SOON_SECONDS, WorkOff
from domain.billing.book import MonthTally, StoredBill
from domain.billing.periods import billing_month
from domain.calendar import Month
from domain.errors import Refused
from domain.keys import billing_key, identifier
from domain.money import Money
from domain.operations import Operation, Registration, State
from domain.payments import ChargeRequest, RefundBook, RefundState

SHOWN: Final = 1000  # bills named in a report because somebody has to look at them
SET_ROWS: Final = 10_000

Progressed = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class MonthStatus:
    """A month's bills by what became of them, and those that somebody may want to look at (at most 1,000)."""

    month: str
    tally: MonthTally
    waiting: Sequence[StoredBill]

    @property
    def parked(self) -> list[Failure]:
        """Those given up: surely not charged, and not tried any more."""
        return [
            Failure(bill.customer_id, f"parked: {operation.reason}; try again with: operations retry {operation.key}")
            for bill in self.waiting
            if (operation := bill.operation) is not None and operation.state is State.PARKED
        ]

    @property
    def put_off(self) -> list[Failure]:
        """Those that are due, or due again later."""
        return [
            Failure(bill.customer_id, _put_off(operation))
            for bill in self.waiting
            if (operation := bill.operation) is not None and operation.state is State.READY
        ]


@dataclass(frozen=True, slots=True)
class BillingReport:
    """What a run came to, or (a preview) would come to.

    `created` and `already` count the customers that were asked for, `status` and `totals` the whole month; `failed`
    are those who could not be billed, and charges that were given up or are left to nobody.
    `missing`: earlier months in which customers have something to pay and no bill: to be run (again).
    Units: `totals` to be charged, minor units by currency.
    """

    created: int
    already: int
    failed: Sequence[Failure]
    status: MonthStatus
    totals: Mapping[str, int]
    unbilled: int = 0
    missing: Mapping[Month, int] = field(default_factory=dict)
    coming: int = 0
    digest: str | None = None

    @property
    def due(self) -> int:
        return self.created + self.already + self.coming + self.unbilled


class BillingRunner(Protocol):
    """Monthly billing as whoever starts it sees it. Every month and customer once, whatever starts it, how often."""

    def run(
        self,
        month: object,
        *,
        customers: Sequence[object] = (),
        wait: bool = True,
        progressed: Progressed = lambda *_: None,
    ) -> BillingReport:
        """Bills a month; returns when none of its charges is due (or at once, without `wait`).

        Raises: Malformed for a month that has not ended, Refused for an unknown customer.
        """
        ...

    def preview(
        self, month: object, *, customers: Sequence[object] = (), progressed: Progressed = lambda *_: None
    ) -> BillingReport:
        """What a run would create now; nothing is stored or charged."""
        ...

    def status(self, month: object) -> MonthStatus:
        """What became of a month's bills so far."""
        ...

    def digest(self, month: object) -> str:
        """One number for all bills of a month, to compare with that of a preview."""
        ...

    def bill_customer(self, customer_id: object, month: object) -> None:
        """Bills one customer's month and charges it, unless that was done. Raises: Refused where it cannot be."""
        ...

    def retry(self, month: object, customer_id: object, *, wait: bool = True) -> StoredBill:
        """Charges a bill anew after a definite decline, under the key of the next attempt.

        Returns when no charge of the month is due any more (or at once, without `wait`).

        Raises: Refused in any other state.
        """
        ...


class PaymentBooks(BillingBooks, Protocol):
    """The books of billing, and the refunds of what was charged."""

    @property
    def refunds(self) -> RefundBook: ...


class RunBilling:
    """`BillingRunner` over the books; the workers charge, or where none is alive it does so itself."""

    def __init__(
        self,
        transactions: Transactions[PaymentBooks],
        create: CreateBills,
        perform_charges: PerformOperations,
        work_off: WorkOff,
    ) -> None:
        self._transactions = transactions
        self._create = create
        self._perform_charges = perform_charges
        self._work_off = work_off

    def run(
        self,
        month: object,
        *,
        customers: Sequence[object] = (),
        wait: bool = True,
        progressed: Progressed = lambda *_: None,
    ) -> BillingReport:
        which, ids = billing_month("month", month), _identifiers(customers)
        creation = self._create.execute(which, ids, lambda done: progressed("bills", done, None))
        is_over = self._charge(which, progressed) if wait else True
        billed = self._transactions.run(lambda books: books.bills.billed(which, ids))
        status = self.status(str(which))
        # Where nobody goes on with what was put off, or nothing has moved for long, the run has failed for it.
        left = status.put_off if wait and (not is_over or self._work_off.is_left_alone()) else []
        return BillingReport(
            creation.created,
            billed - creation.created,
            [*creation.failed, *status.parked, *left],
            status,
            status.tally.totals,
            unbilled=len(creation.failed),
            missing=self._create.missing(which, ids),
        )

    def preview(
        self, month: object, *, customers: Sequence[object] = (), progressed: Progressed = lambda *_: None
    ) -> BillingReport:
        which, ids = billing_month("month", month), _identifiers(customers)
        digest = Digest()
        creation = self._create.preview(which, ids, lambda done: progressed("bills", done, None), digest)
        billed = self._transactions.run(lambda books: books.bills.billed(which, ids))
        status = self.status(str(which))
        totals = creation.totals + Counter(status.tally.totals)
        return BillingReport(
            0,
            billed,
            creation.failed,
            status,
            totals,
            unbilled=len(creation.failed),
            coming=creation.created,
            digest=self._digest(which, digest),
        )

    def status(self, month: object) -> MonthStatus:
        which = billing_month("month", month)

        def read(books: PaymentBooks) -> MonthStatus:
            return MonthStatus(str(which), books.bills.tally(which), books.bills.waiting(which, SHOWN))

        return self._transactions.run(read)

    def digest(self, month: object) -> str:
        return self._digest(billing_month("month", month), Digest())

    def bill_customer(self, customer_id: object, month: object) -> None:
        which, known = billing_month("month", month), identifier("customer_id", customer_id)
        for failure in self._create.execute(which, [known]).failed:
            raise Refused(failure.reason, field="customer_id")
        self._perform_charges.execute(1, key=billing_key(known, str(which)))

    def retry(self, month: object, customer_id: object, *, wait: bool = True) -> StoredBill:
        which, known = billing_month("month", month), identifier("customer", customer_id)
        made: list[str] = []
        self._transactions.run(lambda books: _retried(books, known, which, made))
        if wait:
            self._charge(which, lambda *_: None)
        return self._transactions.run(lambda books: _bill(books, known, which))

    def _charge(self, month: Month, progressed: Progressed) -> bool:
        """Returns: whether it went on until nothing was due."""

        def is_charging() -> bool:
            return self._transactions.run(lambda books: books.bills.is_charging(month, SOON_SECONDS))

        def left() -> int:
            tally = self._transactions.run(lambda books: books.bills.tally(month))
            owed = tally.bills - tally.nothing - tally.carried
            progressed("charges", owed - tally.open, owed)
            return tally.open

        return self._work_off.while_true(is_charging, left)

    def _digest(self, month: Month, digest: Digest) -> str:
        after = ""
        while rows := self._transactions.run(
            lambda books: books.bills.totals(month, after=after, limit=SET_ROWS)  # noqa: B023
        ):
            for customer_id, total, currency in rows:
                digest.add(customer_id, total, currency)
            after = rows[-1][0]
        return str(digest)


def _put_off(charge: Operation) -> str:
    if charge.epoch == 0:
        return "not charged yet: no worker has taken it up"
    return f"not charged yet: {charge.reason}; due again at {charge.next_at}"


def _identifiers(customers: Sequence[object]) -> list[str]:
    return sorted({identifier("customer", customer_id) for customer_id in customers})


def _bill(books: PaymentBooks, customer_id: str, month: Month, *, lock: bool = False) -> StoredBill:
    bill = books.bills.get(customer_id, month, lock=lock)
    if bill is None:
        raise Refused(f"customer {customer_id} has no bill of {month}", field="customer")
    return bill


def _retried(books: PaymentBooks, customer_id: str, month: Month, made: list[str]) -> None:
    """A new attempt; `made` tells a unit that runs again, its COMMIT answered by silence, which one it made."""
    customer = books.customers.lock([customer_id]).get(customer_id)
    bill = _bill(books, customer_id, month, lock=True)
    declined = bill.operation
    if declined is not None and declined.key in made:
        return
    if declined is None or declined.state is not State.REFUSED:
        state = bill.settlement if declined is None else declined.state
        raise Refused(f"the bill of {month} is {state}; only a declined one can be charged anew", field="month")
    for refund in books.refunds.of_charge(customer_id, str(month)):
        if refund.void and refund.state is not RefundState.FAILED:
            raise Refused(f"the charge was stopped by refund {refund.refund_id}", field="month")
    if customer is None or customer.payment_method is None:
        raise Refused(f"customer {customer_id} has no payment_method", field="customer")
    request = ChargeRequest(
        customer_id,
        str(month),
        bill.attempt + 1,
        Money(bill.total, bill.currency),
        bill.number,
        customer.payment_method,
        customer.payment_customer,
        declined.result.get("reference") or declined.content["replaces"],
    )
    if books.operations.register_each([request.as_operation()])[0] is not Registration.NEW:
        raise Refused(f"{request.key} is known already", field="month")
    books.bills.note_attempt(customer_id, month, request.attempt, request.key)
    made.append(request.key)
