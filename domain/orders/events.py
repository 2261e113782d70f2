"""Order events as they come in (CloudEvents 1.0), checked field by field, and the inbox that keeps them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, Protocol

from domain.calendar import instant
from domain.canonical import canonical_json, fingerprint
from domain.customers import MAX_TEXT_CHARACTERS, customer_fields
from domain.errors import Malformed
from domain.keys import clean_text, identifier
from domain.money import MAX_AMOUNT, Money
from domain.points import whole_points

MAX_AHEAD: Final = timedelta(hours=24)  # clocks of producers differ; more than a day is a mistake
MAX_REVISION: Final = 2**63 - 1
MAX_ADDRESS_FIELDS: Final = 32


class EventType(StrEnum):
    CUSTOMER_REGISTERED = "customer.registered"
    CUSTOMER_UPDATED = "customer.updated"
    ORDER_CONFIRMED = "order.confirmed"
    ORDER_CANCELLED = "order.cancelled"
    ORDER_REFUNDED = "order.refunded"

    @property
    def is_of_customer(self) -> bool:
        return self in (EventType.CUSTOMER_REGISTERED, EventType.CUSTOMER_UPDATED)


class EventState(StrEnum):
    """What became of an event. Only `accepted` is still to be done by the machine."""

    ACCEPTED = "accepted"
    APPLIED = "applied"
    IGNORED = "ignored"  # stale, or already applied
    CONFLICT = "conflict"
    WAITING = "waiting"
    PARKED = "parked"


@dataclass(frozen=True)
class OrderEvent:
    """One delivery of one fact. Key: (source, id). Shape: `data` holds only the fields we know, normalised."""

    source: str
    id: str
    type: EventType
    time: datetime
    subject: str
    revision: int
    data: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """The data as it is stored."""
        return canonical_json(self.data)

    @cached_property
    def content(self) -> bytes:
        """What tells two messages about the same fact apart: the data without its revision."""
        return fingerprint(self.text)

    @cached_property
    def fingerprint(self) -> bytes:
        """What tells two deliveries under one (source, id) apart."""
        return fingerprint("\n".join((self.type, self.time.isoformat(), str(self.revision), self.text)))


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event in the inbox. `seq` is its place there, not an order in time."""

    seq: int
    event: OrderEvent


class Arrival(StrEnum):
    """What storing a delivery came to."""

    NEW = "new"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an event, and why."""

    state: EventState
    reason: str | None = None


class EventInbox(Protocol):
    """The table of order events: what was accepted is committed, and stays until it is applied."""

    def store_each(self, events: Sequence[OrderEvent]) -> Sequence[Arrival]:
        """One answer per event, in their order; a conflict is kept beside the first delivery, visible."""
        ...

    def take(self, limit: int) -> Sequence[StoredEvent]:
        """Accepted events, locked until the end of the transaction; those locked elsewhere are passed over."""
        ...

    def take_these(self, seqs: Sequence[int]) -> Sequence[StoredEvent]:
        """Those of the given ones that are still accepted, locked."""
        ...

    def take_parked(self, source: str, event_id: str) -> StoredEvent | None:
        """The event of this name if it is parked, locked."""
        ...

    def mark(self, verdicts: Mapping[int, Verdict]) -> None: ...

    def find(
        self, *, states: Sequence[EventState], subject: str | None, of_customers: bool | None = None, limit: int | None
    ) -> Sequence[Mapping[str, Any]]:
        """Events to look at, the newest first, deliveries in conflict among them.

        A customer and an order may have the same id: `of_customers` tells them apart.
        """
        ...

    def due(self) -> int:
        """How many are still to be applied (counted up to a bound)."""
        ...


def read_event(envelope: object, *, now: datetime) -> OrderEvent:
    """The event that a CloudEvents envelope (a JSON object, already decoded) holds.

    Raises: Malformed naming the first field that is wrong.
    """
    members = _object("event", envelope)
    if _required(members, "specversion") != "1.0":
        raise Malformed("specversion", 'must be "1.0"')
    source = identifier("source", _required(members, "source"))
    id_ = identifier("id", _required(members, "id"))
    name = _required(members, "type")
    if not isinstance(name, str) or name not in list(EventType):
        raise Malformed("type", f"must be one of {', '.join(EventType)}")
    time = instant("time", _required(members, "time"))
    if time > now + MAX_AHEAD:
        raise Malformed("time", "lies more than 24 hours ahead")
    data = _object("data", _required(members, "data"))
    type_ = EventType(name)
    subject_field = "customer_id" if type_.is_of_customer else "order_id"
    subject = identifier(subject_field, _required(data, subject_field))
    revision = 1 if type_.is_of_customer else _revision(data)
    return OrderEvent(source, id_, type_, time, subject, revision, {subject_field: subject, **_READERS[type_](data)})


def _confirmed(data: Mapping[str, Any]) -> dict[str, Any]:
    total = Money.parse(_required(data, "total"), _required(data, "currency"), amount_field="total")
    points, ship_to = data.get("points"), data.get("ship_to")
    return {
        "customer_id": identifier("customer_id", _required(data, "customer_id")),
        "currency": total.currency,
        "total": total.amount,
        "points": None if "points" not in data else whole_points("points", points),
        "ship_to": None if ship_to is None else _address(ship_to),
    }


def _cancelled(data: Mapping[str, Any]) -> dict[str, Any]:
    return {}


def _refunded(data: Mapping[str, Any]) -> dict[str, Any]:
    amount = Money.parse(_required(data, "amount"), _required(data, "currency"))
    if amount.amount == 0:
        raise Malformed("amount", f"must be a whole number of minor units from 1 to {MAX_AMOUNT}")
    refund_id = identifier("refund_id", _required(data, "refund_id"))
    return {"refund_id": refund_id, "amount": amount.amount, "currency": amount.currency}


_READERS: Final[Mapping[EventType, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    EventType.CUSTOMER_REGISTERED: customer_fields,
    EventType.CUSTOMER_UPDATED: customer_fields,
    EventType.ORDER_CONFIRMED: _confirmed,
    EventType.ORDER_CANCELLED: _cancelled,
    EventType.ORDER_REFUNDED: _refunded,
}


def _address(value: object) -> dict[str, str]:
    """An address as the carrier will get it: every field the shop gave, none invented."""
    members = _object("ship_to", value)
    if len(members) > MAX_ADDRESS_FIELDS:
        raise Malformed("ship_to", f"has more than {MAX_ADDRESS_FIELDS} fields")
    address: dict[str, str] = {}
    for name, text in members.items():
        field = f"ship_to.{clean_text('ship_to', name)}"
        if text is None:
            continue
        if not isinstance(text, str) or len(text) > MAX_TEXT_CHARACTERS:
            raise Malformed(field, f"must be null or a string of at most {MAX_TEXT_CHARACTERS} characters")
        address[name] = clean_text(field, text)
    for required in ("name", "country"):
        if not address.get(required):
            raise Malformed(f"ship_to.{required}", "is required")
    return address


def _revision(data: Mapping[str, Any]) -> int:
    revision = data.get("revision", 1)
    if isinstance(revision, bool) or not isinstance(revision, int) or not 1 <= revision <= MAX_REVISION:
        raise Malformed("revision", f"must be a whole number from 1 to {MAX_REVISION}")
    return revision


def _required(members: Mapping[str, Any], field: str) -> Any:
    if field not in members:
        raise Malformed(field, "is required")
    return members[field]


def _object(field: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(field, "must be an object")
    return value
