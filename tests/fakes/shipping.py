"""A carrier in memory: what it did stands in its ledger, whatever it answered."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.operations import Answer, Finding, LookUp, Operation, Outcome
from tests.fakes.gateways import ScriptedGateway


@dataclass(slots=True)
class Booking:
    """One parcel as the carrier has it."""

    key: str
    reference: str
    status: str = "booked"


class FakeShippingGateway(ScriptedGateway):
    """`ShippingGateway` of a scripted carrier."""

    def __init__(self, *, honours_keys: bool = True) -> None:
        super().__init__(honours_keys=honours_keys)
        self.bookings: list[Booking] = []

    def booked(self, key: str) -> list[Booking]:
        """Every parcel that was ever booked under `key`."""
        return [booking for booking in self.bookings if booking.key == key]

    def request_each(self, parcels: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        return self._serve(parcels, self._book)

    def cancel_each(self, cancellations: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        return self._serve(cancellations, self._cancel)

    def look_up_each(self, parcels: Sequence[Operation]) -> Sequence[LookUp]:
        return self._find(parcels, lambda parcel: _look_up(self.booked(parcel.key)))

    def look_up_cancelled_each(self, cancellations: Sequence[Operation]) -> Sequence[LookUp]:
        return self._find(
            cancellations,
            lambda asked: _look_up(
                [one for one in self.booked(asked.content["shipment"]) if one.status == "cancelled"]
            ),
        )

    def _book(self, parcel: Operation) -> Answer:
        booking = Booking(parcel.key, f"SH-{len(self.bookings) + 1}")
        self.bookings.append(booking)
        return Answer(Outcome.DONE, result={"reference": booking.reference})

    def _cancel(self, cancellation: Operation) -> Answer:
        parcels = self.booked(cancellation.content["shipment"])
        if any(parcel.status == "left" for parcel in parcels):
            return Answer(Outcome.FLAGGED, "the parcel has left")
        for parcel in parcels:
            parcel.status = "cancelled"
        return Answer(Outcome.DONE)


def _look_up(found: Sequence[Booking]) -> LookUp:
    return LookUp(Finding.FOUND, result={"reference": found[0].reference}) if found else LookUp(Finding.NOT_FOUND)
