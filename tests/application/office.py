"""Monthly billing, charges and refunds over fakes: every use case, and what a test wants to see of it."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, Final

from application.billing import CreateBills, ImportItems, ImportSubscriptions, RunBilling, Taken
from application.customers import UpdateCustomers
from application.operations import ReconcileUnknowns
from application.payments import RequestRefund, TakeNotice, charge_performer, refund_performer
from application.workers import Role, TellOfWorkers, WorkOff
from domain.billing.book import StoredBill, Terms
from domain.calendar import Month
from domain.keys import billing_key
from domain.money import Money, Rounding
from domain.operations import Operation, policy_of
from domain.payments import CHARGE, REFUND, Notice, Refund, RefundState
from tests.application.shop import Shop
from tests.fakes.payments import FakePaymentGateway

PATIENCE_SECONDS: Final = 60.0
MONTH: Final = "2026-09"  # over since three days when the fakes' clock begins
KEY: Final = "billing:c-1:2026-09"


class Office(Shop):
    """A shop that bills: use cases wired as the container wires them.

    In place of a pause, the clock moves and `while_waiting` is called.
    """

    def __init__(self, *, honours_keys: bool = True, zone: str = "Asia/Tokyo", set_customers: int = 1000) -> None:
        super().__init__(honours_keys=honours_keys)
        self.provider = FakePaymentGateway(honours_keys=honours_keys)
        self.provider.during_call = self.provider.during_look_up = self.transactions.assert_none_open
        self.policies |= {kind: policy_of(kind, honours_keys=honours_keys) for kind in (CHARGE, REFUND)}
        self.charges = charge_performer(self.provider, self.policies[CHARGE])
        self.backs = refund_performer(self.provider, self.policies[REFUND])
        self.reconcile = ReconcileUnknowns(self.transactions, [self.charges, self.backs])
        self.while_waiting: Callable[[], object] = lambda: None

        self.customers = UpdateCustomers(self.transactions, self.clock)
        self.subscriptions = ImportSubscriptions(self.transactions)
        self.items = ImportItems(self.transactions)
        self.crew = TellOfWorkers(self.transactions, "crew")
        self.terms = Terms(zone, Rounding.FLOOR)
        self.create = CreateBills(self.transactions, self.clock, self.terms, set_customers=set_customers)
        by_itself = self.worker(self.charges, name="command")
        self.billing = RunBilling(
            self.transactions,
            self.create,
            self.worker(self.charges, name="message"),
            WorkOff(
                self.crew,
                by_itself,
                self.sweep,
                self.reconcile,
                per_claim=100,
                patience_seconds=PATIENCE_SECONDS,
                pause=self._pause,
            ),
        )
        self.ask_back = RequestRefund(self.transactions)
        self.notices = TakeNotice(self.transactions)

    def have(self, customer_id: str = "c-1", **told: Any) -> None:
        """A customer with a card that pays, unless told otherwise."""
        told = {"payment_method": "pm_card_visa", **told}
        assert self.customers.execute([{"customer_id": customer_id, **told}]) in ([True], [False])

    def subscribe(self, customer_id: str = "c-1", subscription_id: str | None = None, **columns: Any) -> None:
        """Ten thousand yen a month, tax included, since long ago, unless told otherwise."""
        row = {
            "subscription_id": subscription_id or f"s of {customer_id}",
            "customer_id": customer_id,
            **{"plan": "基本プラン", "price": 10_000, "currency": "JPY", "tax_rate": "10", "tax_included": "true"},
            **{"start": "2015-01-01", "end": ""},
            **columns,
        }
        assert self.subscriptions.execute([row]) == [Taken.ACCEPTED]

    def sell(self, item_id: str = "i-1", customer_id: str = "c-1", **columns: Any) -> None:
        """One item of September, untaxed unless told otherwise."""
        row = {
            **{"item_id": item_id, "customer_id": customer_id, "date": "2026-09-10", "description": "設置費"},
            **{"amount": 500, "currency": "JPY", "tax_rate": "0", "tax_included": "false"},
            **columns,
        }
        assert self.items.execute([row]) == [Taken.ACCEPTED]

    def have_subscribed(self, *customer_ids: str, **told: Any) -> None:
        """Customers with a card and a subscription each."""
        for customer_id in customer_ids or ("c-1",):
            self.have(customer_id, **told)
            self.subscribe(customer_id)

    def charge(self) -> int:
        """A new worker charges all that is due. Returns: how much it took on."""
        return self.worker(self.charges).execute(100)

    def give_back(self) -> int:
        """A new worker asks for all refunds that are due. Returns: how many it took on."""
        return self.worker(self.backs).execute(100)

    def after_the_lease(self) -> None:
        """A dead worker's lease is over and swept, and every retry is due."""
        self.clock.advance(self.timing.lease_seconds + 600)
        self.sweep.execute()

    def paid(self, amount: int = 5000) -> str:
        """A customer who paid so much for September. Returns: the provider's id of the charge."""
        self.have_subscribed()
        self.sell("the rest", amount=amount - 10_000)
        self.billing.run(MONTH)
        assert self.provider.charges[-1].money == Money(amount, "JPY")
        return self.provider.charges[-1].reference

    def refund(self, refund_id: str = "R1", amount: int | None = 1000) -> Refund:
        return self.ask_back.execute(refund_id, "c-1", MONTH, amount)

    def hear(
        self,
        reference: str,
        state: RefundState = RefundState.SUCCEEDED,
        *,
        key: str | None = "refund:R1",
        amount: int = 1000,
        charge: str = "pi_1",
    ) -> bool:
        """The provider tells of a refund by itself."""
        return self.notices.execute(Notice(REFUND, reference, key, charge, Money(amount, "JPY"), state))

    def refunds(self, customer_id: str = "c-1", month: str = MONTH) -> dict[str, tuple[int, str]]:
        """Amount and state of each refund of a bill that is stored, by id."""
        found = self.transactions.run(lambda books: books.refunds.of_charge(customer_id, month))
        return {one.refund_id: (one.money.amount, str(one.state)) for one in found}

    def bill(self, customer_id: str = "c-1", month: str = MONTH) -> StoredBill:
        bill = self.books.bills.get(customer_id, Month.parse("month", month))
        assert bill is not None
        return bill

    def billed(self, customer_id: str = "c-1") -> dict[str, int]:
        """The total of each of a customer's bills, by month."""
        return {one.month: one.total for one in self.books.bills.of_customer(customer_id)}

    def lines(self, month: str = MONTH, customer_id: str = "c-1") -> list[tuple[str, str, int]]:
        """Source, days and amount of each line of a bill."""
        return [
            (one["source"], _days(one["first_day"], one["last_day"]), one["amount"])
            for one in self.books.bills.lines(customer_id)
            if one["month"] == month
        ]

    def operation(self, key: str = KEY) -> Operation:
        return self.books.operations.operations[key]

    def charge_of(self, customer_id: str = "c-1", month: str = MONTH, attempt: int = 1) -> Operation:
        return self.operation(billing_key(customer_id, month, attempt))

    def workers_live(self) -> None:
        """A dispatcher and a worker say that they are alive."""
        self.crew.seen(Role.DISPATCHER)
        TellOfWorkers(self.transactions, "worker").seen(Role.WORKER)

    def _pause(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.while_waiting()

    def at(self, moment: str) -> None:
        """Sets the clock."""
        self.clock.set(datetime.fromisoformat(moment))


def _days(first: date | None, last: date | None) -> str:
    return "" if first is None else str(first) if first == last else f"{first}..{last}"
