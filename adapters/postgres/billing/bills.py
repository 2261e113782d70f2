"""`BillBook` on the tables bills, bill_lines, bill_numbers and billing_runs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import tzinfo
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Row

from adapters.postgres.billing import statements as sql
from adapters.postgres.billing.plans import item_of, subscription_of
from adapters.postgres.operations.book import operation_of
from domain.billing.bills import Account, Bill, Carried, LineKind, Settlement, bill_number
from domain.billing.book import KindOfBill, MonthTally, StoredBill, Terms
from domain.billing.periods import Days
from domain.billing.taxes import RateTotal
from domain.calendar import Month, business_date
from domain.canonical import canonical_json
from domain.errors import LostRace
from domain.keys import billing_key
from domain.money import Rounding
from domain.operations import State
from domain.payments import CANCELED


class PostgresBillBook:
    """Bills as rows, read and written in sets."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def open_run(self, month: Month, terms: Terms) -> Terms:
        asked = {"month": str(month), "time_zone": terms.time_zone, "rounding": str(terms.rounding)}
        self._connection.execute(sql.OPEN_RUN, asked)
        frozen = self.terms(month)
        assert frozen is not None
        return frozen

    def terms(self, month: Month) -> Terms | None:
        row = self._connection.execute(sql.TERMS, {"month": str(month)}).one_or_none()
        return None if row is None else Terms(row.time_zone, Rounding(row.rounding))

    def first_month(self, before: Month) -> Month | None:
        text = self._connection.execute(sql.FIRST_MONTH, {"month": str(before)}).scalar_one()
        return None if text is None else _month(text)

    def closing_day(self, month: Month, among: Sequence[str] = ()) -> int | None:
        asked = {"among": list(among), **_bounds(month)}
        day: int | None = self._connection.execute(sql.CLOSING_DAY, asked).scalar_one()
        return day

    def unbilled(self, month: Month, *, after: str, limit: int, among: Sequence[str] = ()) -> Sequence[str]:
        asked = {"after": after, "limit": limit, "among": list(among), **_bounds(month)}
        return self._connection.execute(sql.UNBILLED, asked).scalars().all()

    def billed(self, month: Month, among: Sequence[str] = ()) -> int:
        asked = {"month": str(month), "among": list(among)}
        count: int = self._connection.execute(sql.BILLED, asked).scalar_one()
        return count

    def accounts(self, month: Month, customer_ids: Sequence[str], *, lock: bool) -> Sequence[Account]:
        customers = {"customers": list(customer_ids)}
        payers = self._connection.execute(sql.LOCK_PAYERS if lock else sql.PAYERS, customers).all()
        # Asked after the locks were had: what another run has billed meanwhile is seen.
        neighbours = {**customers, "months": [str(month.plus(step)) for step in (-1, 0, 1)]}
        billed = _periods(self._connection.execute(sql.PERIODS, neighbours))
        payers = [row for row in payers if month not in billed[row.customer_id]]
        known = {"customers": [row.customer_id for row in payers], **_bounds(month)}
        subscriptions = _by_customer(self._connection.execute(sql.SUBSCRIPTIONS, known))
        items = _by_customer(self._connection.execute(sql.ITEMS, known))
        carried = _by_customer(self._connection.execute(sql.CARRIED, known))
        unsettled = {
            row.subscription_id: row.customer_id
            for row in chain.from_iterable(subscriptions.values())
            if not row.settled
        }
        billed_days: dict[str, list[Days]] = defaultdict(list)
        if unsettled:
            everyone = {"customers": sorted(set(unsettled.values()))}
            billed |= _periods(self._connection.execute(sql.ALL_PERIODS, everyone))
            for row in self._connection.execute(sql.BILLED_DAYS, {"subscriptions": list(unsettled)}):
                billed_days[row.source].append(Days(row.first_day, row.last_day))
        return [
            Account(
                row.customer_id,
                row.closing_day,
                row.payment_method,
                row.payment_customer,
                [subscription_of(one) for one in subscriptions[row.customer_id]],
                [item_of(one) for one in items[row.customer_id]],
                [Carried(_month(one.month), one.total, one.currency) for one in carried[row.customer_id]],
                billed[row.customer_id],
                billed_days,
                frozenset(one.subscription_id for one in subscriptions[row.customer_id] if not one.settled),
            )
            for row in payers
        ]

    def issue_each(self, bills: Sequence[Bill], zone: tzinfo) -> Sequence[str]:
        if not bills:
            return []
        # Read before the wait for the numbers: the year and the time on the bill come from one look at the clock.
        now = self._connection.execute(sql.NOW).scalar_one()
        year = business_date(now, zone).year
        last = self._connection.execute(sql.TAKE_NUMBERS, {"year": year, "count": len(bills)}).scalar_one()
        numbers = range(last - len(bills) + 1, last + 1)
        month = {"month": str(bills[0].month)}
        issued = {**month, "year": year, "now": now, **_bill_columns(bills, numbers)}
        inserted = self._connection.execute(sql.INSERT_BILLS, issued)
        if len(inserted.all()) < len(bills):
            raise LostRace("a bill of this month appeared meanwhile")  # undone whole, so that no number is lost
        self._connection.execute(sql.INSERT_LINES, {**month, **_line_columns(bills)})
        customers = [bill.customer_id for bill in bills]
        # Only what the rules have seen: what begins later may be missing on bills of later months.
        self._connection.execute(sql.MARK_SETTLED, {"customers": customers, "until": bills[0].month.last_day})
        items = [line.source for bill in bills for line in bill.lines if line.kind is LineKind.ITEM]
        if items:
            self._connection.execute(sql.MARK_ITEMS, {**month, "items": items})
        lines = ((bill.customer_id, line) for bill in bills for line in bill.lines)
        carried = [(customer_id, line.source) for customer_id, line in lines if line.kind is LineKind.CARRIED]
        if carried:
            whose, when = zip(*carried, strict=True)
            self._connection.execute(sql.MARK_CARRIED, {**month, "customers": list(whose), "months": list(when)})
        return [bill_number(year, number) for number in numbers]

    def get(self, customer_id: str, month: Month, *, lock: bool = False) -> StoredBill | None:
        asked = {"customer_id": customer_id, "month": str(month)}
        if lock:
            self._connection.execute(sql.LOCK_BILL, asked)
        row = self._connection.execute(sql.GET, asked).one_or_none()
        return None if row is None else _stored(row)

    def of_customer(self, customer_id: str) -> Sequence[StoredBill]:
        return [_stored(row) for row in self._connection.execute(sql.OF_CUSTOMER, {"customer_id": customer_id})]

    def lines(self, customer_id: str) -> Sequence[Mapping[str, Any]]:
        rows = self._connection.execute(sql.LINES, {"customer_id": customer_id})
        return [dict(row._mapping) for row in rows]

    def taxes(self, customer_id: str) -> Sequence[Mapping[str, Any]]:
        rows = self._connection.execute(sql.TAXES, {"customer_id": customer_id})
        return [dict(row._mapping) for row in rows]

    def note_attempt(self, customer_id: str, month: Month, attempt: int, charge_key: str) -> None:
        noted = {"customer_id": customer_id, "month": str(month), "attempt": attempt, "key": charge_key}
        self._connection.execute(sql.NOTE_ATTEMPT, noted)

    def tally(self, month: Month) -> MonthTally:
        rows = self._connection.execute(sql.TALLY, {"month": str(month), "canceled": CANCELED})
        return MonthTally.of(
            KindOfBill(
                Settlement(row.settlement),
                row.state and State(row.state),
                row.stopped,
                row.currency,
                row.bills,
                int(row.total),
            )
            for row in rows
        )

    def totals(self, month: Month, *, after: str, limit: int) -> Sequence[tuple[str, int, str]]:
        rows = self._connection.execute(sql.TOTALS, {"month": str(month), "after": after, "limit": limit})
        return [(row.customer_id, row.total, row.currency) for row in rows]

    def waiting(self, month: Month, limit: int) -> Sequence[StoredBill]:
        asked = {"month": str(month), "limit": limit, "canceled": CANCELED}
        rows = self._connection.execute(sql.WAITING, asked)
        return [_stored(row) for row in rows]

    def is_charging(self, month: Month, within_seconds: float) -> bool:
        asked = {"month": str(month), "within_seconds": within_seconds}
        answer: bool = self._connection.execute(sql.IS_CHARGING, asked).scalar_one()
        return answer


def _bounds(month: Month) -> dict[str, Any]:
    """The days that a period of this month may have, whatever the closing days were and are."""
    return {"month": str(month), "since": month.plus(-1).first_day, "until": month.last_day}


def _month(text: str) -> Month:
    return Month.parse("month", text)


def _periods(rows: Any) -> dict[str, dict[Month, Days]]:
    periods: dict[str, dict[Month, Days]] = defaultdict(dict)
    for row in rows:
        periods[row.customer_id][_month(row.month)] = Days(row.period_start, row.period_end)
    return periods


def _by_customer(rows: Any) -> Mapping[str, Sequence[Row[Any]]]:
    found: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        found[row.customer_id].append(row)
    return found


def _stored(row: Row[Any]) -> StoredBill:
    return StoredBill(
        row.customer_id,
        row.month,
        bill_number(row.year, row.bill_number),
        row.total,
        row.currency,
        row.settlement,
        row.attempt,
        None if row.key is None else operation_of(row),
    )


def _bill_columns(bills: Sequence[Bill], numbers: Sequence[int]) -> dict[str, list[object]]:
    return {
        "customers": [bill.customer_id for bill in bills],
        "numbers": list(numbers),
        "starts": [bill.period.first for bill in bills],
        "ends": [bill.period.last for bill in bills],
        "currencies": [bill.total.currency for bill in bills],
        "totals": [bill.total.amount for bill in bills],
        "taxes": [_taxes(bill.taxes.rates) for bill in bills],
        "settlements": [str(bill.settlement) for bill in bills],
        "charges": [
            billing_key(bill.customer_id, str(bill.month)) if bill.settlement is Settlement.CHARGE else None
            for bill in bills
        ],
    }


@lru_cache(maxsize=4096)  # most customers' bills look alike
def _taxes(rates: tuple[RateTotal, ...]) -> str:
    return canonical_json([asdict(rate) for rate in rates])


def _line_columns(bills: Sequence[Bill]) -> dict[str, list[object]]:
    lines = [
        (bill.customer_id, number, line, share)
        for bill in bills
        for number, (line, share) in enumerate(zip(bill.lines, bill.taxes.shares, strict=True), start=1)
    ]
    return {
        "customers": [customer_id for customer_id, _, _, _ in lines],
        "lines": [number for _, number, _, _ in lines],
        "kinds": [str(line.kind) for _, _, line, _ in lines],
        "sources": [line.source for _, _, line, _ in lines],
        "texts": [line.text for _, _, line, _ in lines],
        "amounts": [line.amount for _, _, line, _ in lines],
        "ppm": [line.tax.ppm for _, _, line, _ in lines],
        "included": [line.tax.included for _, _, line, _ in lines],
        "taxes": [share for _, _, _, share in lines],
        "firsts": [None if line.days is None else line.days.first for _, _, line, _ in lines],
        "lasts": [None if line.days is None else line.days.last for _, _, line, _ in lines],
    }
