"""Order events: accepted first (committed, deduplicated), then applied in sets."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from application.transactions import Clock, Transactions
from domain.customers import Customer, CustomerBook, CustomerUpdate
from domain.errors import Conflict, Malformed, Refused, Unavailable
from domain.keys import shipment_request_key
from domain.operations import NewOperation, OperationBook, Registration
from domain.orders.events import Arrival, EventInbox, EventState, OrderEvent, StoredEvent, Verdict, read_event
from domain.orders.rules import APPLIED, STALE, Decision, Order, OrderBook, PointRules, obey
from domain.points import PointGrant, PointLedger, PointReversal
from domain.shipping import cancellation

logger = logging.getLogger(__name__)

BATCH_EVENTS: Final = 1000  # measured: sets of 300 to 3,000 are equally fast; smaller ones hold locks for less long


class OrderBooks(Protocol):
    """The books that order events write."""

    @property
    def inbox(self) -> EventInbox: ...
    @property
    def orders(self) -> OrderBook: ...
    @property
    def customers(self) -> CustomerBook: ...
    @property
    def ledger(self) -> PointLedger: ...
    @property
    def operations(self) -> OperationBook: ...


@dataclass(frozen=True, slots=True)
class EventConflict:
    """A delivery whose (source, id) is known with other content. `index` is its place in the request."""

    index: int
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """An input that was not stored, with the field that is wrong. `index` is its place in the request."""

    index: int
    field: str
    reason: str


@dataclass(slots=True)
class Receipt:
    """What became of what was handed in. What counts as accepted or as duplicate is committed."""

    accepted: int = 0
    duplicates: int = 0
    conflicts: list[EventConflict] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)

    def add(self, other: "Receipt") -> None:
        """Takes in the receipt of another part of the same input."""
        self.accepted += other.accepted
        self.duplicates += other.duplicates
        self.conflicts += other.conflicts
        self.rejected += other.rejected


class AcceptOrderEvents:
    """Takes order events in, whichever door they come through; the valid part of a batch is stored."""

    def __init__(self, transactions: Transactions[OrderBooks], clock: Clock) -> None:
        self._transactions = transactions
        self._clock = clock

    def execute(self, envelopes: Iterable[object], *, first_index: int = 0) -> Receipt:
        """Shape: CloudEvents envelopes, decoded. An envelope that could not be decoded is its `Malformed`."""
        now = self._clock.now()
        receipt = Receipt()
        events: list[tuple[int, OrderEvent]] = []
        for index, envelope in enumerate(envelopes, first_index):
            try:
                if isinstance(envelope, Malformed):
                    raise envelope
                events.append((index, read_event(envelope, now=now)))
            except Malformed as wrong:
                receipt.rejected.append(Rejection(index, wrong.field, wrong.reason))
        if not events:
            return receipt
        arrivals = self._transactions.run(lambda books: books.inbox.store_each([event for _, event in events]))
        for (index, event), arrival in zip(events, arrivals, strict=True):
            if arrival is Arrival.CONFLICT:
                reason = "this source and id are known with other content"
                receipt.conflicts.append(EventConflict(index, event.id, reason))
            elif arrival is Arrival.DUPLICATE:
                receipt.duplicates += 1
            else:
                receipt.accepted += 1
        return receipt


class ApplyOrderEvents:
    """Makes orders, points and parcels obey the accepted events: a set per transaction, a bad one set apart."""

    def __init__(self, transactions: Transactions[OrderBooks], rules: PointRules) -> None:
        self._transactions = transactions
        self._rules = rules

    def execute(self, limit: int = BATCH_EVENTS) -> Mapping[EventState, int]:
        """Applies up to `limit` accepted events. Returns: how many ended in which state; empty when none was due."""
        taken: list[int] = []

        def apply(books: OrderBooks) -> list[Verdict]:
            events = books.inbox.take(limit)
            taken[:] = [stored.seq for stored in events]
            return self._apply(books, events)

        try:
            verdicts = self._transactions.run(apply)
        except Unavailable:
            raise
        except Exception as failure:
            if not taken:
                raise
            verdicts = self._halve(taken, failure)
        return Counter(verdict.state for verdict in verdicts)

    def _halve(self, seqs: Sequence[int], failure: Exception) -> list[Verdict]:
        """Finds the event that a set failed for, so that it alone is parked."""
        if len(seqs) <= 1:
            return [self._set_apart(seq, failure) for seq in seqs]
        verdicts: list[Verdict] = []
        for half in (seqs[: len(seqs) // 2], seqs[len(seqs) // 2 :]):
            try:
                verdicts += self._transactions.run(partial(self._apply_these, half))
            except Unavailable:
                raise
            except Exception as again:
                verdicts += self._halve(half, again)
        return verdicts

    def _apply_these(self, seqs: Sequence[int], books: OrderBooks) -> list[Verdict]:
        return self._apply(books, books.inbox.take_these(seqs))

    def _set_apart(self, seq: int, failure: Exception) -> Verdict:
        if isinstance(failure, Conflict):
            verdict = Verdict(EventState.CONFLICT, str(failure))
        elif isinstance(failure, Refused):
            verdict = Verdict(EventState.PARKED, str(failure))
        else:
            logger.error("order event %s parked: our own fault", seq, exc_info=failure)
            verdict = Verdict(EventState.PARKED, f"unexpected {type(failure).__name__}: {failure}"[:1000])
        self._transactions.run(lambda books: books.inbox.mark({seq: verdict} if books.inbox.take_these([seq]) else {}))
        return verdict

    def _apply(self, books: OrderBooks, stored: Sequence[StoredEvent]) -> list[Verdict]:
        """One set. Locks are taken in one order everywhere: orders, customers, balances, lots, operations."""
        decisions, verdicts = self._decide(books, [one for one in stored if not one.event.type.is_of_customer])
        news = [one for one in stored if one.event.type.is_of_customer]
        verdicts |= _update_customers(
            books, news, [customer for decision in decisions if (customer := decision.order.customer_id)]
        )
        _post_points(books.ledger, decisions)
        _register(books.operations, [decision.shipment.as_operation() for decision in decisions if decision.shipment])
        _cancel_shipments(books.operations, decisions)
        books.inbox.mark(verdicts)
        return list(verdicts.values())

    def _decide(self, books: OrderBooks, stored: Sequence[StoredEvent]) -> tuple[list[Decision], dict[int, Verdict]]:
        order_ids = sorted({one.event.subject for one in stored})
        known = books.orders.lock(order_ids)
        orders = {order_id: known.get(order_id) or Order(order_id) for order_id in order_ids}
        decisions: list[Decision] = []
        verdicts: dict[int, Verdict] = {}
        for one in stored:
            decision = obey(orders[one.event.subject], one.event, self._rules)
            orders[one.event.subject] = decision.order
            verdicts[one.seq] = decision.verdict
            decisions.append(decision)
        # An order that no event has moved (a refund that waits for it) is not stored yet.
        books.orders.add([order for id_, order in orders.items() if id_ not in known and order.position is not None])
        books.orders.save([order for id_, order in orders.items() if id_ in known and order != known[id_]])
        return decisions, verdicts


def _update_customers(books: OrderBooks, stored: Sequence[StoredEvent], mentioned: Sequence[str]) -> dict[int, Verdict]:
    books.customers.ensure(sorted({*mentioned, *(one.event.subject for one in stored)}))
    if not stored:
        return {}
    known = dict(books.customers.lock(sorted({one.event.subject for one in stored})))
    verdicts: dict[int, Verdict] = {}
    changed: dict[str, Customer] = {}
    for one in stored:
        fields = {name: value for name, value in one.event.data.items() if name != "customer_id"}
        customer = known[one.event.subject].updated_by(CustomerUpdate(one.event.subject, one.event.time, fields))
        verdicts[one.seq] = STALE if customer is None else APPLIED
        if customer is not None:
            known[one.event.subject] = changed[one.event.subject] = customer
    books.customers.save([changed[customer_id] for customer_id in sorted(changed)])
    return verdicts


def _post_points(ledger: PointLedger, decisions: Sequence[Decision]) -> None:
    """Grants and reversals as sets, yet as if each event had come alone.

    A cancel that came before its order was confirmed must not take back what a later confirmation of this set grants.
    """
    granted: set[tuple[str, str]] = set()
    before: list[PointReversal] = []
    after: list[PointReversal] = []
    for decision in decisions:
        if decision.grant is not None:
            granted.add((decision.grant.order_id, decision.grant.reason))
        if decision.reversal is not None:
            is_after = (decision.reversal.order_id, decision.reversal.reason) in granted
            (after if is_after else before).append(decision.reversal)
    grants = [decision.grant for decision in decisions if decision.grant]
    ledger.lock(grants, [*before, *after])
    ledger.reverse_each_once(before)
    _grant(ledger, grants)
    ledger.reverse_each_once(after)


def _grant(ledger: PointLedger, grants: Sequence[PointGrant]) -> None:
    """Grants each once; points that were granted before with other content are a conflict, never silent."""
    done = ledger.grant_each_once(grants)
    repeated = {(grant.order_id, grant.reason): grant for grant, new in zip(grants, done, strict=True) if not new}
    for first in ledger.granted(list(repeated)) if repeated else ():
        repeated[first.order_id, first.reason].check_same(first)


def _cancel_shipments(operations: OperationBook, decisions: Sequence[Decision]) -> None:
    """Withdraws parcels not yet asked for; the carrier is asked to stop the others."""
    parcels = [(decision.order.order_id, number) for decision in decisions for number in decision.cancelled_shipments]
    if not parcels:
        return
    keys = {shipment_request_key(*parcel): parcel for parcel in parcels}
    sent = operations.withdraw_unsent(sorted(keys), "the order was cancelled")
    _register(operations, [cancellation(*keys[key]) for key in sent])


def _register(operations: OperationBook, new: Sequence[NewOperation]) -> None:
    for operation, registration in zip(new, operations.register_each(new), strict=True):
        if registration is Registration.CONFLICT:
            raise Conflict(f"{operation.key} is known with other content")


class RetryOrderEvent:
    """Lets a parked event be applied again, once what it failed for is mended."""

    def __init__(self, transactions: Transactions[OrderBooks]) -> None:
        self._transactions = transactions

    def execute(self, source: str, event_id: str) -> None:
        """Raises: Refused unless such an event is parked."""

        def retry(books: OrderBooks) -> None:
            parked = books.inbox.take_parked(source, event_id)
            if parked is None:
                raise Refused(f"no parked event {event_id} of {source} is known")
            books.inbox.mark({parked.seq: Verdict(EventState.ACCEPTED, "retried by hand")})

        self._transactions.run(retry)


class ReadOrders:
    """Orders and their events to look at."""

    def __init__(self, transactions: Transactions[OrderBooks]) -> None:
        self._transactions = transactions

    def get(self, order_id: str) -> Order | None:
        return self._transactions.run(lambda books: books.orders.get(order_id))

    def events(
        self,
        *,
        state: str | None = None,
        subject: str | None = None,
        of_customers: bool | None = None,
        limit: int | None = None,
    ) -> Sequence[Mapping[str, Any]]:
        """The newest first, deliveries in conflict among them. Raises: Malformed for a state that does not exist."""
        if state is not None and state not in list(EventState):
            raise Malformed("state", f"must be one of {', '.join(EventState)}")
        states = [] if state is None else [EventState(state)]
        return self._transactions.run(
            lambda books: books.inbox.find(states=states, subject=subject, of_customers=of_customers, limit=limit)
        )
