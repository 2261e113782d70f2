"""Customers with something to bill, and bills as tests bring them about, each step in a transaction of its own."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from domain.billing.bills import Account, Settlement, bill_of
from domain.billing.book import StoredBill, Terms
from domain.billing.plans import Item, Subscription, Tax
from domain.calendar import Month
from domain.customers import Customer
from domain.money import Money, Rounding
from domain.operations import Operation, State, Step
from domain.payments import CHARGE, REFUND, ChargeRequest
from tests.contracts.stores import Books, Runner, Store
from tests.contracts.work import LEASE_SECONDS, MAX_ATTEMPTS, settle

TOKYO: Final = ZoneInfo("Asia/Tokyo")
TERMS: Final = Terms("Asia/Tokyo", Rounding.FLOOR)
AUGUST: Final = Month(2026, 8)
SEPTEMBER: Final = Month(2026, 9)
OCTOBER: Final = Month(2026, 10)
TEN_PERCENT: Final = Tax(100_000, included=False)


def subscription(
    subscription_id: str = "s-1",
    *,
    customer_id: str = "c-1",
    price: int = 1000,
    currency: str = "JPY",
    tax: Tax = TEN_PERCENT,
    start: date = date(2026, 1, 1),
    end: date | None = None,
) -> Subscription:
    return Subscription(subscription_id, customer_id, "基本プラン", Money(price, currency), tax, start, end)


def item(
    item_id: str = "i-1",
    *,
    customer_id: str = "c-1",
    amount: int = 500,
    day: date = date(2026, 9, 10),
    currency: str = "JPY",
    tax: Tax = TEN_PERCENT,
) -> Item:
    return Item(item_id, customer_id, day, "設置費", Money(amount, currency), tax)


def have(store: Runner, *things: Subscription | Item, closing_day: int = 31) -> None:
    """The customers have these, and a payment method."""

    def save(books: Books) -> None:
        ids = sorted({one.customer_id for one in things})
        books.customers.ensure(ids)
        books.customers.lock(ids)
        books.customers.save([Customer(one, payment_method="pm_card_visa", closing_day=closing_day) for one in ids])
        books.plans.save_subscriptions([one for one in things if isinstance(one, Subscription)])
        books.plans.add_items([one for one in things if isinstance(one, Item)])

    store.run(save)


def accounts(store: Runner, month: Month = SEPTEMBER, *customer_ids: str, lock: bool = False) -> Sequence[Account]:
    return store.run(lambda books: books.bills.accounts(month, customer_ids or ["c-1"], lock=lock))


def issue(books: Books, month: Month, customer_ids: Sequence[str], zone: ZoneInfo = TOKYO) -> list[str]:
    """Bills those who have anything due and no bill yet. Returns: the numbers."""
    known = books.bills.accounts(month, customer_ids, lock=True)
    bills = [bill for one in known if (bill := bill_of(one, month, Rounding.FLOOR)) is not None]
    numbers = books.bills.issue_each(bills, zone)
    charged = [(bill, n) for bill, n in zip(bills, numbers, strict=True) if bill.settlement is Settlement.CHARGE]
    books.operations.register_each(
        [
            ChargeRequest(one.customer_id, str(month), 1, one.total, n, "pm_card_visa", None).as_operation()
            for one, n in charged
        ]
    )
    return list(numbers)


def issue_all(store: Runner, month: Month = SEPTEMBER, *customer_ids: str, zone: ZoneInfo = TOKYO) -> list[str]:
    """In one transaction."""
    return store.run(lambda books: issue(books, month, customer_ids or ["c-1"], zone))


def unbilled(
    store: Runner, month: Month = SEPTEMBER, *, after: str = "", limit: int = 100, among: Sequence[str] = ()
) -> list[str]:
    return list(store.run(lambda books: books.bills.unbilled(month, after=after, limit=limit, among=among)))


def bill(store: Runner, customer_id: str = "c-1", month: Month = SEPTEMBER) -> StoredBill:
    found = store.run(lambda books: books.bills.get(customer_id, month))
    assert found is not None
    return found


def lines(store: Runner, month: Month, customer_id: str = "c-1") -> list[tuple[str, Any, Any, int]]:
    """Source, first day, last day and amount of each line of a bill."""
    shown = store.run(lambda books: books.bills.lines(customer_id))
    return [
        (one["source"], one["first_day"], one["last_day"], one["amount"]) for one in shown if one["month"] == str(month)
    ]


def end_operation(store: Runner, key: str, step: Step, *, kind: str = CHARGE) -> Operation:
    """Somebody claims the operation, sends it, and this is what came of it."""

    def claim_and_gate(books: Books) -> Operation:
        claimed = books.operations.claim(
            kind, 1, lease_seconds=LEASE_SECONDS, worker=f"worker of {key}", max_attempts=MAX_ATTEMPTS, key=key
        )
        return books.operations.gate_each(claimed, outlasting_seconds=11, sent_to="us")[0]

    sent = store.run(claim_and_gate)
    assert settle(store, sent, step) == [key]
    return sent


def paid(store: Runner, price: int = 5000, customer_id: str = "c-1") -> str:
    """A customer whose September was charged. Returns: the provider's id of the charge."""
    untaxed = Tax(0, included=True)
    have(store, subscription(f"s of {customer_id}", customer_id=customer_id, price=price, tax=untaxed))
    issue_all(store, SEPTEMBER, customer_id)
    reference = f"pi_{customer_id}"
    key = f"billing:{customer_id}:2026-09"
    end_operation(store, key, Step(State.COMPLETED, result={"reference": reference, "status": "succeeded"}))
    return reference


def end_refund(store: Runner, refund_id: str, step: Step) -> None:
    end_operation(store, f"refund:{refund_id}", step, kind=REFUND)


def set_clock(store: Store, moment: datetime) -> None:
    store.pass_time((moment - store.now()).total_seconds())
