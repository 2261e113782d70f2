"""Months to bill, each of one test alone, since a report counts all of a month's bills."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from domain.calendar import Month
from domain.keys import refund_key
from domain.operations import State
from tests.e2e.commands import Finished, ikkai
from tests.e2e.installation import TOTAL, Installation
from tests.entrypoints.sandbox.paying import Bill

NEWEST: Final = Month.parse("month", "2026-09")
DECLINED: Final = "pm_card_chargeDeclined"

_months = itertools.count()


@dataclass(frozen=True)
class RefundOf:
    """One refund of a bill, under an id that tells whose it is."""

    bill: Bill
    number: int = 1

    @property
    def refund_id(self) -> str:
        return f"r-{self.bill.customer_id}-{self.number}"

    @property
    def key(self) -> str:
        return refund_key(self.refund_id)

    def words(self, amount: int | None = None) -> tuple[str, ...]:
        """How it is asked for by command."""
        much = () if amount is None else ("--amount", str(amount))
        of_bill = ("--customer", self.bill.customer_id, "--month", self.bill.month)
        return ("refunds", "request", "--refund", self.refund_id, *of_bill, *much, "--json")


class BilledMonth:
    """A month with subscribers of its own."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.month = str(NEWEST.plus(-next(_months)))

    def subscribers(self, count: int, **terms: Any) -> list[Bill]:
        """So many bills to come."""
        bills = [Bill(month=self.month) for _ in range(count)]
        self.installation.subscribe(self.month, *(bill.customer_id for bill in bills), **terms)
        return bills

    def ikkai(self, command: str, *arguments: str) -> Finished:
        """Types `ikkai billing …` for this month, where workers are there to charge."""
        return self.installation.ikkai("billing", command, self.month, *arguments, "--json")

    def type(self, command: str, *arguments: str) -> Finished:
        """Types it in a process of its own, which may have to charge itself, and may run beside others."""
        environment = self.installation.settings.as_environment()
        return ikkai("billing", command, self.month, *arguments, "--json", environment=environment)

    def paid(self, **terms: Any) -> Bill:
        """One bill that is charged already, without a command."""
        (bill,) = self.subscribers(1, **terms)
        self.installation.container.billing_runner().bill_customer(bill.customer_id, bill.month)
        assert self.installation.operation(bill).state is State.COMPLETED
        return bill

    def report(self, **counts: Any) -> dict[str, Any]:
        """What `billing run` says: these counts, and of all others none."""
        none = {"due": 0, "created": 0, "already": 0, "charged": 0, "declined": 0, "needs_confirmation": 0}
        return {"month": self.month, **none, "failed": [], "total": {}} | counts

    def assert_charged_once(self, bills: Sequence[Bill]) -> None:
        """In the world's ledger and in ours: one charge per bill, of what it comes to."""
        ledger = self.installation.ledger("charges", *bills)
        assert Counter(row["key"] for row in ledger) == Counter(bill.key for bill in bills)
        assert {(row["amount"], row["currency"], row["status"]) for row in ledger} == {(TOTAL, "JPY", "succeeded")}
        operations = {bill.key: self.installation.operation(bill) for bill in bills}
        assert {row["key"]: row["reference"] for row in ledger} == {
            key: operation.result["reference"] for key, operation in operations.items()
        }
