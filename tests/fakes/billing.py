"""The bills in memory."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta, tzinfo
from typing import Any

from application.transactions import Clock
from domain.billing.bills import Account, Bill, Carried, Line, LineKind, Settlement, bill_number
from domain.billing.book import KindOfBill, MonthTally, StoredBill, Terms
from domain.billing.plans import Tax
from domain.calendar import Month, business_date
from domain.customers import Customer
from domain.errors import LostRace
from domain.keys import billing_key
from domain.operations import Operation, State
from domain.payments import CANCELED, CHARGE
from tests.fakes.customers import InMemoryCustomerBook
from tests.fakes.operations import InMemoryOperationBook
from tests.fakes.plans import InMemoryPlanBook


@dataclass(frozen=True, slots=True)
class IssuedBill:
    """A bill as it was stored, its number, its newest charge, and the month it was carried to."""

    bill: Bill
    year: int
    number: int
    attempt: int
    charge_key: str | None
    issued_on: date
    carried_to: Month | None = None

    @property
    def is_carried_nowhere(self) -> bool:
        return self.bill.settlement is Settlement.CARRIED and self.carried_to is None


class InMemoryBillBook:
    """`BillBook` over dictionaries; whoever runs the unit holds every lock there is."""

    def __init__(
        self, clock: Clock, customers: InMemoryCustomerBook, plans: InMemoryPlanBook, operations: InMemoryOperationBook
    ) -> None:
        self._clock = clock
        self._customers = customers
        self._plans = plans
        self._operations = operations
        self._runs: dict[Month, Terms] = {}
        self._last_numbers: Counter[int] = Counter()
        self.issued: dict[tuple[str, Month], IssuedBill] = {}

    def open_run(self, month: Month, terms: Terms) -> Terms:
        return self._runs.setdefault(month, terms)

    def terms(self, month: Month) -> Terms | None:
        return self._runs.get(month)

    def first_month(self, before: Month) -> Month | None:
        return min((month for month in (*self._runs, *self._plans.unseen_months()) if month < before), default=None)

    def closing_day(self, month: Month, among: Sequence[str] = ()) -> int | None:
        return max((one.closing_day for one in self._among(among) if self._may_be_due(one, month)), default=None)

    def unbilled(self, month: Month, *, after: str, limit: int, among: Sequence[str] = ()) -> Sequence[str]:
        found = [
            one.customer_id
            for one in self._among(among)
            if one.customer_id > after and (one.customer_id, month) not in self.issued and self._may_be_due(one, month)
        ]
        return found[:limit]

    def billed(self, month: Month, among: Sequence[str] = ()) -> int:
        return sum(of == month and (not among or whose in among) for whose, of in self.issued)

    def accounts(self, month: Month, customer_ids: Sequence[str], *, lock: bool) -> Sequence[Account]:
        asked = [one for one in self._among(customer_ids) if customer_ids]
        return [self._account(one, month) for one in asked if (one.customer_id, month) not in self.issued]

    def _account(self, customer: Customer, month: Month) -> Account:
        known = self._plans.subscriptions_of(customer.customer_id, month)
        return Account(
            customer.customer_id,
            customer.closing_day,
            customer.payment_method,
            customer.payment_customer,
            known,
            self._plans.items_of(customer.customer_id, month),
            self._carried(customer.customer_id, before=month),
            {of: one.bill.period for (whose, of), one in self.issued.items() if whose == customer.customer_id},
            {one.subscription_id: self._plans.billed_days[one.subscription_id] for one in known},
            frozenset(one.subscription_id for one in known if one.subscription_id in self._plans.unsettled),
        )

    def issue_each(self, bills: Sequence[Bill], zone: tzinfo) -> Sequence[str]:
        year = business_date(self._clock.now(), zone).year
        numbers = []
        for bill in bills:
            if (bill.customer_id, bill.month) in self.issued:
                raise LostRace("a bill of this month appeared meanwhile")
            self._last_numbers[year] += 1
            key = billing_key(bill.customer_id, str(bill.month)) if bill.settlement is Settlement.CHARGE else None
            issued = IssuedBill(
                bill, year, self._last_numbers[year], 0 if key is None else 1, key, self._clock.now().date()
            )
            self.issued[bill.customer_id, bill.month] = issued
            self._write_down(bill)
            numbers.append(_number(issued))
        return numbers

    def _write_down(self, bill: Bill) -> None:
        for line in bill.lines:
            match line.kind:
                case LineKind.ITEM:
                    assert line.source not in self._plans.billed_in, "no item is ever billed twice"
                    self._plans.billed_in[line.source] = bill.month
                case LineKind.CARRIED:
                    of = (bill.customer_id, Month.parse("month", line.source))
                    self.issued[of] = replace(self.issued[of], carried_to=bill.month)
                case LineKind.SUBSCRIPTION | LineKind.ARREARS:
                    assert line.days is not None
                    billed = self._plans.billed_days[line.source]
                    assert not any(line.days.within(days) for days in billed), "no day is ever billed twice"
                    billed.append(line.days)
        for one in self._plans.subscriptions_of(bill.customer_id, bill.month):
            self._plans.unsettled.discard(one.subscription_id)

    def get(self, customer_id: str, month: Month, *, lock: bool = False) -> StoredBill | None:
        issued = self.issued.get((customer_id, month))
        return None if issued is None else self._stored(issued)

    def of_customer(self, customer_id: str) -> Sequence[StoredBill]:
        return [self._stored(self.issued[one]) for one in sorted(self.issued) if one[0] == customer_id]

    def lines(self, customer_id: str) -> Sequence[Mapping[str, Any]]:
        bills = [self.issued[one].bill for one in sorted(self.issued) if one[0] == customer_id]
        return [
            _shown(bill, line, tax) for bill in bills for line, tax in zip(bill.lines, bill.taxes.shares, strict=True)
        ]

    def taxes(self, customer_id: str) -> Sequence[Mapping[str, Any]]:
        issued = [self.issued[one] for one in sorted(self.issued) if one[0] == customer_id]
        return [
            {
                "month": str(one.bill.month),
                "issued_on": one.issued_on,
                "tax_rate": Tax(rate.ppm, included=False).percent,
                "gross": rate.gross,
                "tax": rate.tax,
            }
            for one in issued
            for rate in one.bill.taxes.rates
        ]

    def note_attempt(self, customer_id: str, month: Month, attempt: int, charge_key: str) -> None:
        issued = self.issued[customer_id, month]
        self.issued[customer_id, month] = replace(issued, attempt=attempt, charge_key=charge_key)

    def tally(self, month: Month) -> MonthTally:
        return MonthTally.of(self._kind(one) for one in self._of(month))

    def _kind(self, one: IssuedBill) -> KindOfBill:
        charge, total = self._charge(one), one.bill.total
        return KindOfBill(
            one.bill.settlement,
            None if charge is None else charge.state,
            charge is not None and _is_stopped(charge),
            total.currency,
            1,
            total.amount,
        )

    def totals(self, month: Month, *, after: str, limit: int) -> Sequence[tuple[str, int, str]]:
        bills = [one.bill for one in self._of(month) if one.bill.customer_id > after]
        return [(one.customer_id, one.total.amount, one.total.currency) for one in bills[:limit]]

    def waiting(self, month: Month, limit: int) -> Sequence[StoredBill]:
        stored = [self._stored(one) for one in self._of(month)]
        return [one for one in stored if one.operation is not None and _waits(one.operation)][:limit]

    def is_charging(self, month: Month, within_seconds: float) -> bool:
        soon = self._clock.now() + timedelta(seconds=within_seconds)
        charges = [charge for one in self._of(month) if (charge := self._charge(one)) is not None]
        return any(
            one.kind == CHARGE
            and (
                one.state is State.PROCESSING
                or (one.state is State.READY and one.next_at is not None and one.next_at <= soon)
            )
            for one in charges
        )

    def _among(self, customer_ids: Sequence[str]) -> list[Customer]:
        """Of these, or of all where nobody is named, in the order of their ids."""
        known = self._customers.customers
        return [known[one] for one in sorted(known) if not customer_ids or one in customer_ids]

    def _carried(self, customer_id: str, *, before: Month | None = None) -> list[Carried]:
        return [
            Carried(month, one.bill.total.amount, one.bill.total.currency)
            for (whose, month), one in sorted(self.issued.items(), key=lambda issued: issued[0])
            if whose == customer_id and one.is_carried_nowhere and (before is None or month < before)
        ]

    def _may_be_due(self, customer: Customer, month: Month) -> bool:
        return bool(
            self._plans.subscriptions_of(customer.customer_id, month)
            or self._plans.items_of(customer.customer_id, month)
            or self._carried(customer.customer_id, before=month)
        )

    def _of(self, month: Month) -> list[IssuedBill]:
        return [self.issued[one] for one in sorted(self.issued) if one[1] == month]

    def _charge(self, issued: IssuedBill) -> Operation | None:
        return None if issued.charge_key is None else self._operations.get(issued.charge_key)

    def _stored(self, issued: IssuedBill) -> StoredBill:
        bill = issued.bill
        return StoredBill(
            bill.customer_id,
            str(bill.month),
            _number(issued),
            bill.total.amount,
            bill.total.currency,
            str(bill.settlement),
            issued.attempt,
            self._charge(issued),
        )


def _shown(bill: Bill, line: Line, tax: int) -> Mapping[str, Any]:
    return {
        "month": str(bill.month),
        "text": line.text,
        "source": line.source,
        "first_day": None if line.days is None else line.days.first,
        "last_day": None if line.days is None else line.days.last,
        "amount": line.amount,
        "tax_rate": line.tax.percent,
        "tax_included": line.tax.included,
        "tax": tax,
    }


def _number(issued: IssuedBill) -> str:
    return bill_number(issued.year, issued.number)


def _is_stopped(charge: Operation) -> bool:
    return charge.state is State.REFUSED and charge.result.get("status") == CANCELED


def _waits(charge: Operation) -> bool:
    return charge.state not in (State.COMPLETED, State.PROCESSING) and not _is_stopped(charge)
