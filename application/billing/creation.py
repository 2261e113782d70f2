"""The bills of a month, each once: a set of customers per transaction, a bad one named and never in the way."""

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from application.transactions import Clock, Transactions
from domain.billing.bills import Account, Bill, Settlement, bill_of
from domain.billing.book import BillBook, PlanBook, Terms
from domain.billing.periods import ended_at
from domain.calendar import Month, business_date
from domain.customers import CustomerBook
from domain.errors import Conflict, Malformed, Refused, Unavailable
from domain.money import Rounding
from domain.operations import OperationBook, Registration
from domain.payments import ChargeRequest

logger = logging.getLogger(__name__)

SET_CUSTOMERS: Final = (
    1000  # as for events: large enough to be fast, small enough to hold locks for well under a second
)
MONTH_END: Final = 31
MONTHS_LOOKED_AT: Final = 24  # for what was never billed; further back, somebody would have missed it


class BillingBooks(Protocol):
    """The books that billing writes."""

    @property
    def customers(self) -> CustomerBook: ...
    @property
    def plans(self) -> PlanBook: ...
    @property
    def bills(self) -> BillBook: ...
    @property
    def operations(self) -> OperationBook: ...


@dataclass(frozen=True, slots=True)
class Failure:
    """A customer that could not be billed, and why."""

    customer_id: str
    reason: str


class Digest:
    """What a month's bills amount to, in one number: equal for equal bills, in whatever order they are seen."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, customer_id: str, total: int, currency: str) -> None:
        """Takes in one bill. Units: minor units."""
        bill = hashlib.sha256(f"{total} {currency} {customer_id}".encode()).digest()
        self._sum = (self._sum + int.from_bytes(bill)) % 2**256

    def __str__(self) -> str:
        return f"{self._sum:064x}"


@dataclass(slots=True)
class Creation:
    """What creating bills came to. Units: `totals` of what is to be charged, minor units by currency."""

    created: int = 0
    failed: list[Failure] = field(default_factory=list)
    totals: Counter[str] = field(default_factory=Counter)

    def add(self, bills: Sequence[Bill], failed: Sequence[Failure]) -> None:
        """Takes in another set."""
        self.created += len(bills)
        self.failed += failed
        for bill in bills:
            if bill.settlement is Settlement.CHARGE:
                self.totals[bill.total.currency] += bill.total.amount


class CreateBills:
    """Bills every customer of a month that has no bill yet."""

    def __init__(
        self,
        transactions: Transactions[BillingBooks],
        clock: Clock,
        terms: Terms,
        *,
        set_customers: int = SET_CUSTOMERS,
    ) -> None:
        self._transactions = transactions
        self._clock = clock
        self._terms = terms
        self._set_customers = set_customers

    def execute(
        self, month: Month, customer_ids: Sequence[str] = (), progressed: Callable[[int], None] = lambda _: None
    ) -> Creation:
        """Creates what is missing, of these customers or of all; `progressed` hears how many were looked at.

        Raises: Malformed naming `month` before its periods have ended, Refused for an unknown customer.
        """
        terms = self._fitting_terms(month, customer_ids)
        frozen = self._transactions.run(lambda books: books.bills.open_run(month, terms))
        creation, looked_at = Creation(), 0
        for ids in self._sets(month, customer_ids):
            for bills, failed in self._issue(ids, month, frozen):
                creation.add(bills, failed)
            looked_at += len(ids)
            progressed(looked_at)
        return creation

    def preview(
        self,
        month: Month,
        customer_ids: Sequence[str] = (),
        progressed: Callable[[int], None] = lambda _: None,
        digest: Digest | None = None,
    ) -> Creation:
        """What `execute` would create now, by the same rules; nothing is stored. Each bill is added to `digest`."""
        terms = self._fitting_terms(month, customer_ids)
        creation, looked_at = Creation(), 0
        for ids in self._sets(month, customer_ids):
            bills, failed = self._would_issue(ids, month, terms)
            creation.add(bills, failed)
            if digest is not None:
                for bill in bills:
                    digest.add(bill.customer_id, bill.total.amount, bill.total.currency)
            looked_at += len(ids)
            progressed(looked_at)
        return creation

    def missing(self, before: Month, customer_ids: Sequence[str] = ()) -> dict[Month, int]:
        """Earlier months in which somebody has something to bill and no bill, with how many (a thousand at most).

        Looked at are the months since the first run, and since the first day that came to light after a bill.
        """
        first = self._transactions.run(lambda books: books.bills.first_month(before))
        missing = {}
        month = max(first or before, before.plus(-MONTHS_LOOKED_AT))
        while month < before:
            terms = self._transactions.run(lambda books: books.bills.terms(month)) or self._terms  # noqa: B023
            ids = next(self._sets(month, customer_ids), [])
            bills, _ = self._would_issue(ids, month, terms)
            if bills:
                missing[month] = len(bills)
            month = month.plus(1)
        return missing

    def _fitting_terms(self, month: Month, customer_ids: Sequence[str]) -> Terms:
        """The terms of the month, once every period of it has ended by the database's clock."""

        def read(books: BillingBooks) -> tuple[Terms, int]:
            known = books.customers.known(customer_ids) if customer_ids else set()
            for customer_id in customer_ids:
                if customer_id not in known:
                    raise Refused(f"no customer {customer_id} is known", field="customer")
            return books.bills.terms(month) or self._terms, books.bills.closing_day(month, customer_ids) or MONTH_END

        terms, closing_day = self._transactions.run(read)
        ended = ended_at(month, closing_day, ZoneInfo(terms.time_zone))
        if self._clock.now() < ended:
            local = ended.astimezone(ZoneInfo(terms.time_zone))
            raise Malformed("month", f"{month} has not ended for every customer; it can be billed from {local} on")
        return terms

    def _sets(self, month: Month, customer_ids: Sequence[str]) -> Iterator[Sequence[str]]:
        after = ""
        while True:
            ids = self._transactions.run(
                lambda books: books.bills.unbilled(
                    month,
                    after=after,  # noqa: B023
                    limit=self._set_customers,
                    among=customer_ids,
                )
            )
            if not ids:
                return
            yield ids
            after = ids[-1]

    def _would_issue(self, ids: Sequence[str], month: Month, terms: Terms) -> tuple[Sequence[Bill], Sequence[Failure]]:
        """What these customers' bills would be now, without a lock."""
        accounts = self._transactions.run(lambda books: books.bills.accounts(month, ids, lock=False))
        return _drawn_up(accounts, month, terms.rounding)

    def _issue(
        self, ids: Sequence[str], month: Month, terms: Terms
    ) -> Iterator[tuple[Sequence[Bill], Sequence[Failure]]]:
        """One transaction for the set; where that fails, smaller ones, until the customer it fails for is alone."""
        issued: dict[str, tuple[Bill, str]] = {}
        try:
            today = business_date(self._clock.now(), ZoneInfo(terms.time_zone))
            yield self._transactions.run(lambda books: _issued(books, ids, month, terms, today, issued))
        except Unavailable:
            raise
        except Exception as failure:
            if len(ids) == 1:
                logger.exception("customer %s could not be billed", ids[0])
                why = str(failure) if isinstance(failure, Refused) else f"{type(failure).__name__}; see the log"
                yield [], [Failure(ids[0], f"could not be stored: {why}")]
                return
            for half in (ids[: len(ids) // 2], ids[len(ids) // 2 :]):
                yield from self._issue(half, month, terms)


def _issued(
    books: BillingBooks,
    ids: Sequence[str],
    month: Month,
    terms: Terms,
    today: date,
    issued: dict[str, tuple[Bill, str]],
) -> tuple[Sequence[Bill], Sequence[Failure]]:
    """Bills these customers. `issued` tells a unit that runs again, its COMMIT answered by silence, what it made."""
    stand = [
        bill
        for bill, number in issued.values()
        if (stored := books.bills.get(bill.customer_id, month)) is not None and stored.number == number
    ]
    accounts = books.bills.accounts(month, ids, lock=True)
    drawn_up, failed = _drawn_up(accounts, month, terms.rounding)
    # A closing day may have changed since the run began; under the customer's lock, it stays.
    bills = [bill for bill in drawn_up if bill.period.last < today]
    failed += [
        Failure(bill.customer_id, f"the period {bill.period} has not ended") for bill in drawn_up if bill not in bills
    ]
    numbers = books.bills.issue_each(bills, ZoneInfo(terms.time_zone))
    charges = [
        _charge(bill, number).as_operation()
        for bill, number in zip(bills, numbers, strict=True)
        if bill.settlement is Settlement.CHARGE
    ]
    if Registration.CONFLICT in books.operations.register_each(charges):
        raise Conflict("a charge of this month is known with other content")
    issued |= {bill.customer_id: (bill, number) for bill, number in zip(bills, numbers, strict=True)}
    return stand + bills, failed


def _drawn_up(accounts: Sequence[Account], month: Month, rounding: Rounding) -> tuple[list[Bill], list[Failure]]:
    bills, failed = [], []
    for account in accounts:
        try:
            bill = bill_of(account, month, rounding)
        except Refused as refused:
            failed.append(Failure(account.customer_id, str(refused)))
        except Exception as failure:  # our own fault with one customer is no reason to bill nobody
            logger.exception("customer %s could not be billed", account.customer_id)
            failed.append(Failure(account.customer_id, f"could not be billed: {type(failure).__name__}; see the log"))
        else:
            if bill is not None:
                bills.append(bill)
    return bills, failed


def _charge(bill: Bill, number: str) -> ChargeRequest:
    assert bill.payment_method is not None, "a bill to be charged has a payment method"
    return ChargeRequest(
        bill.customer_id, str(bill.month), 1, bill.total, number, bill.payment_method, bill.payment_customer
    )
