"""The books of billing: what is billed, and the bills."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, tzinfo
from typing import Any, Final, Protocol, Self

from domain.billing.bills import Account, Bill, Settlement
from domain.billing.plans import Item, Subscription
from domain.calendar import Month
from domain.money import Rounding
from domain.operations import Operation, State

_BECAME: Final[Mapping[State | None, str]] = {
    State.COMPLETED: "charged",
    State.REFUSED: "declined",
    State.NEEDS_CONFIRMATION: "needs_confirmation",
    State.PARKED: "parked",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """By what rules a month is billed: frozen by its first run. `time_zone` is a name of the IANA database."""

    time_zone: str
    rounding: Rounding


@dataclass(frozen=True, slots=True)
class StoredBill:
    """A bill there is, as far as charging needs it. `attempt` counts charges; `operation` is the newest one."""

    customer_id: str
    month: str
    number: str
    total: int
    currency: str
    settlement: str
    attempt: int
    operation: Operation | None


@dataclass(frozen=True, slots=True)
class MonthTally:
    """A month's bills by what became of them. Units: `totals` to be charged, minor units by currency.

    `open` are being charged; `stopped` were cancelled at the provider before they were paid; `nothing` was to be paid.
    """

    bills: int = 0
    charged: int = 0
    declined: int = 0
    needs_confirmation: int = 0
    parked: int = 0
    open: int = 0
    stopped: int = 0
    nothing: int = 0
    carried: int = 0
    totals: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, kinds: Iterable["KindOfBill"]) -> Self:
        """The tally of bills that are counted by kind."""
        counts: Counter[str] = Counter()
        totals: Counter[str] = Counter()
        for kind in kinds:
            counts["bills"] += kind.bills
            counts[kind.became] += kind.bills
            if kind.settlement is Settlement.CHARGE:
                totals[kind.currency] += kind.total
        return cls(**counts, totals=dict(sorted(totals.items())))


@dataclass(frozen=True, slots=True)
class KindOfBill:
    """Bills of a month that are alike, counted. `state` is that of their newest charges, `stopped` of cancelled ones.

    Units: `total` of all of them, minor units.
    """

    settlement: Settlement
    state: State | None
    stopped: bool
    currency: str
    bills: int
    total: int

    @property
    def became(self) -> str:
        """The count of a `MonthTally` that they belong to."""
        if self.settlement is not Settlement.CHARGE:
            return str(self.settlement)
        if self.stopped:
            return "stopped"
        return _BECAME.get(self.state, "open")


class PlanBook(Protocol):
    """The tables of subscriptions and items."""

    def subscriptions(self, subscription_ids: Sequence[str]) -> Mapping[str, Subscription]: ...

    def items(self, item_ids: Sequence[str]) -> Mapping[str, Item]: ...

    def currencies(self, customer_ids: Sequence[str]) -> Mapping[str, str]:
        """The currency of each customer that has a price in any."""
        ...

    def billed_through(self, subscription_ids: Sequence[str]) -> Mapping[str, date]:
        """The last day of each subscription that is on a bill."""
        ...

    def save_subscriptions(self, subscriptions: Sequence[Subscription]) -> None:
        """Stores new ones, and the end of known ones, of customers that are locked.

        The next bill looks for days of theirs that are missing on bills there are.

        Raises: LostRace where an id was taken meanwhile.
        """
        ...

    def add_items(self, items: Sequence[Item]) -> None:
        """Stores new ones, of customers that are locked. Raises: LostRace where an id was taken meanwhile."""
        ...


class BillBook(Protocol):
    """The table of bills, one per customer and month, numbered without gaps in each year."""

    def open_run(self, month: Month, terms: Terms) -> Terms:
        """Freezes the terms of a month. Returns: those it is billed by, which an earlier run may have frozen."""
        ...

    def terms(self, month: Month) -> Terms | None: ...

    def first_month(self, before: Month) -> Month | None:
        """The first month before this one that was run, or in which a subscription began that no bill has seen."""
        ...

    def closing_day(self, month: Month, among: Sequence[str] = ()) -> int | None:
        """The latest closing day of those (of these customers) that may need a bill of the month; none if nobody."""
        ...

    def unbilled(self, month: Month, *, after: str, limit: int, among: Sequence[str] = ()) -> Sequence[str]:
        """Customers in the order of their ids that have no bill of the month and may need one."""
        ...

    def billed(self, month: Month, among: Sequence[str] = ()) -> int:
        """How many (of these) have a bill of the month."""
        ...

    def accounts(self, month: Month, customer_ids: Sequence[str], *, lock: bool) -> Sequence[Account]:
        """What is known of those that have no bill of the month, by id.

        Locked, they stay so: nobody else bills them meanwhile, or changes what they have.
        """
        ...

    def issue_each(self, bills: Sequence[Bill], zone: tzinfo) -> Sequence[str]:
        """Stores new bills of one month, of customers that are locked, numbered in the year that it is in `zone`.

        Returns: their numbers, in order. Raises: LostRace where one is there already.
        """
        ...

    def get(self, customer_id: str, month: Month, *, lock: bool = False) -> StoredBill | None: ...

    def of_customer(self, customer_id: str) -> Sequence[StoredBill]:
        """Every bill of a customer, by month."""
        ...

    def lines(self, customer_id: str) -> Sequence[Mapping[str, Any]]:
        """The lines of all these bills, in order, to be shown."""
        ...

    def taxes(self, customer_id: str) -> Sequence[Mapping[str, Any]]:
        """The taxes of all these bills, per rate, to be shown. `gross` has the tax in it."""
        ...

    def note_attempt(self, customer_id: str, month: Month, attempt: int, charge_key: str) -> None:
        """Says which charge is the bill's newest."""
        ...

    def tally(self, month: Month) -> MonthTally: ...

    def totals(self, month: Month, *, after: str, limit: int) -> Sequence[tuple[str, int, str]]:
        """Customer, total and currency of bills of the month, in the order of their customers."""
        ...

    def waiting(self, month: Month, limit: int) -> Sequence[StoredBill]:
        """Bills of the month whose charge was declined, waits for a person, or was put off."""
        ...

    def is_charging(self, month: Month, within_seconds: float) -> bool:
        """Whether a charge of the month is under way, or due within that time."""
        ...
