"""What really happened out there: every booking is kept, and every claim of "once" is checked against this."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ShipmentStatus(StrEnum):
    """How far a parcel has come; one that has left cannot be called back."""

    BOOKED = "booked"
    LEFT = "left"
    CANCELLED = "cancelled"


@dataclass(slots=True)
class Shipment:
    """One parcel that the carrier really booked."""

    reference: str
    key: str
    order_id: str
    status: ShipmentStatus = ShipmentStatus.BOOKED

    def row(self) -> dict[str, str]:
        return {"key": self.key, "order_id": self.order_id, "reference": self.reference, "status": self.status}


@dataclass(frozen=True, slots=True)
class Tally:
    """How many bookings stand (cancelled ones do not), under how many keys, and how many keys hold more than one."""

    rows: int
    keys: int
    twice: int


def tally(keys: Iterable[str | None]) -> Tally:
    """Counts one key per booking; what was booked without a key is a row of its own and never twice."""
    standing = Counter(keys)
    rows = standing.total()
    del standing[None]
    return Tally(rows, len(standing), sum(1 for times in standing.values() if times > 1))


class Ledger:
    """All bookings, in the order in which they happened; nothing is ever removed or merged."""

    def __init__(self) -> None:
        self._shipments: dict[str, Shipment] = {}
        self._by_key: defaultdict[str, list[Shipment]] = defaultdict(list)
        self._by_order: defaultdict[str, list[Shipment]] = defaultdict(list)

    def book(self, key: str, order_id: str) -> Shipment:
        """One more parcel, even under a key that has one already: the ledger records and judges nothing."""
        shipment = Shipment(f"P-{len(self._shipments) + 1:08d}", key, order_id)
        self._shipments[shipment.reference] = shipment
        self._by_key[key].append(shipment)
        self._by_order[order_id].append(shipment)
        return shipment

    def shipment(self, reference: str) -> Shipment | None:
        return self._shipments.get(reference)

    def shipments(self) -> Iterable[Shipment]:
        return self._shipments.values()

    def shipments_of_key(self, key: str) -> Iterable[Shipment]:
        return self._by_key.get(key, ())

    def shipments_of_order(self, order_id: str) -> Iterable[Shipment]:
        return self._by_order.get(order_id, ())

    def tally_shipments(self) -> Tally:
        return tally(s.key for s in self._shipments.values() if s.status is not ShipmentStatus.CANCELLED)
