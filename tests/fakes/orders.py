"""Orders, and the events that tell of them, in memory."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from application.transactions import Clock
from domain.errors import LostRace
from domain.orders.events import Arrival, EventState, OrderEvent, StoredEvent, Verdict
from domain.orders.rules import Order


class InMemoryOrderBook:
    """`OrderBook` over a dictionary."""

    def __init__(self) -> None:
        self.orders: dict[str, Order] = {}

    def lock(self, order_ids: Sequence[str]) -> Mapping[str, Order]:
        return {one: self.orders[one] for one in sorted({*order_ids}) if one in self.orders}

    def add(self, orders: Sequence[Order]) -> None:
        for order in orders:
            if order.order_id in self.orders:
                raise LostRace(f"order {order.order_id} was stored meanwhile")
            self.orders[order.order_id] = order

    def save(self, orders: Sequence[Order]) -> None:
        for order in orders:
            if order.order_id in self.orders:
                self.orders[order.order_id] = order

    def get(self, order_id: str) -> Order | None:
        return self.orders.get(order_id)


ACCEPTED: Final = Verdict(EventState.ACCEPTED)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One row of the inbox, or a delivery in conflict beside it."""

    stored: StoredEvent
    received_at: datetime
    verdict: Verdict = ACCEPTED

    @property
    def shown(self) -> Mapping[str, Any]:
        event = self.stored.event
        return {
            "source": event.source,
            "event_id": event.id,
            "type": event.type,
            "time": event.time,
            "subject": event.subject,
            "revision": event.revision,
            "data": event.data,
            "state": self.verdict.state,
            "reason": self.verdict.reason,
            "received_at": self.received_at,
        }


class InMemoryEventInbox:
    """`EventInbox` over a list of deliveries."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._facts: dict[tuple[str, str], int] = {}
        self._deliveries: dict[int, Delivery] = {}
        self._conflicts: dict[tuple[str, str, bytes], Delivery] = {}

    def store_each(self, events: Sequence[OrderEvent]) -> Sequence[Arrival]:
        return [self._store(event) for event in events]

    def _store(self, event: OrderEvent) -> Arrival:
        known = self._facts.get((event.source, event.id))
        if known is None:
            seq = len(self._deliveries) + 1
            self._facts[event.source, event.id] = seq
            self._deliveries[seq] = Delivery(StoredEvent(seq, event), self._clock.now())
            return Arrival.NEW
        if self._deliveries[known].stored.event.fingerprint == event.fingerprint:
            return Arrival.DUPLICATE
        verdict = Verdict(EventState.CONFLICT, "this source and id are known with other content")
        beside = Delivery(StoredEvent(0, event), self._clock.now(), verdict)
        self._conflicts.setdefault((event.source, event.id, event.fingerprint), beside)
        return Arrival.CONFLICT

    def take(self, limit: int) -> Sequence[StoredEvent]:
        return self._accepted()[:limit]

    def take_these(self, seqs: Sequence[int]) -> Sequence[StoredEvent]:
        return [stored for stored in self._accepted() if stored.seq in seqs]

    def _accepted(self) -> list[StoredEvent]:
        return [one.stored for one in self._deliveries.values() if one.verdict.state is EventState.ACCEPTED]

    def take_parked(self, source: str, event_id: str) -> StoredEvent | None:
        for one in self._deliveries.values():
            if (one.stored.event.source, one.stored.event.id) == (source, event_id):
                return one.stored if one.verdict.state is EventState.PARKED else None
        return None

    def mark(self, verdicts: Mapping[int, Verdict]) -> None:
        for seq, verdict in verdicts.items():
            if seq in self._deliveries:
                self._deliveries[seq] = replace(self._deliveries[seq], verdict=verdict)

    def find(
        self, *, states: Sequence[EventState], subject: str | None, of_customers: bool | None = None, limit: int | None
    ) -> Sequence[Mapping[str, Any]]:
        found = [
            one
            for one in (*self._deliveries.values(), *self._conflicts.values())
            if (not states or one.verdict.state in states)
            and subject in (None, one.stored.event.subject)
            and of_customers in (None, one.stored.event.type.is_of_customer)
        ]
        found.sort(key=lambda one: (one.received_at, one.stored.seq or math.inf), reverse=True)
        return [one.shown for one in found[:limit]]

    def due(self) -> int:
        return len(self._accepted())
