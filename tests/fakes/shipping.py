"""A carrier in memory: what it did stands in its ledger, whatever it answered."""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.operations import Answer, Finding, LookUp, Operation, Outcome


@dataclass(slots=True)
class Booking:
    """One parcel as the carrier has it."""

    key: str
    reference: str
    status: str = "booked"


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What one request is answered, and whether the carrier did the work all the same."""

    answer: Answer
    works: bool


class FakeShippingGateway:
    """`ShippingGateway` of a carrier that honours keys or not, and does as a test has scripted.

    `received` and `looked_up` have the keys in order of arrival; `during_call` and `during_look_up` run when the
    carrier has done its work and no answer is back yet.
    """

    def __init__(self, *, honours_keys: bool = True) -> None:
        self.bookings: list[Booking] = []
        self.received: list[str] = []
        self.looked_up: list[str] = []
        self.during_call: Callable[[], None] = lambda: None
        self.during_look_up: Callable[[], None] = lambda: None
        self._honours_keys = honours_keys
        self._remembered: dict[str, Answer] = {}
        self._answers: defaultdict[str, deque[ScriptedAnswer]] = defaultdict(deque)
        self._look_ups: defaultdict[str, deque[LookUp]] = defaultdict(deque)

    def will_answer(
        self,
        key: str,
        outcome: Outcome,
        *,
        works: bool = False,
        result: Mapping[str, Any] | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        """Scripts the answer to the next request under `key` (further calls: to the ones after it)."""
        answer = Answer(outcome, f"scripted {outcome}", result or {}, retry_after_seconds)
        self._answers[key].append(ScriptedAnswer(answer, works))

    def will_find(self, key: str, finding: Finding, *, result: Mapping[str, Any] | None = None) -> None:
        """Scripts the answer to the next look-up of `key`."""
        self._look_ups[key].append(LookUp(finding, f"scripted {finding}", result or {}))

    def forget_keys(self) -> None:
        """Ages every key out, as a carrier does when its window is over."""
        self._remembered.clear()

    def booked(self, key: str) -> list[Booking]:
        """Every parcel that was ever booked under `key`."""
        return [booking for booking in self.bookings if booking.key == key]

    def request_each(self, parcels: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        return self._serve(parcels, self._book)

    def cancel_each(self, cancellations: Sequence[Operation], *, began: float) -> Sequence[Answer]:
        return self._serve(cancellations, self._cancel)

    def look_up_each(self, parcels: Sequence[Operation]) -> Sequence[LookUp]:
        return self._find(parcels, lambda parcel: self.booked(parcel.key))

    def look_up_cancelled_each(self, cancellations: Sequence[Operation]) -> Sequence[LookUp]:
        return self._find(
            cancellations,
            lambda asked: [one for one in self.booked(asked.content["shipment"]) if one.status == "cancelled"],
        )

    def _serve(self, operations: Sequence[Operation], work: Callable[[Operation], Answer]) -> list[Answer]:
        """All requests are at the carrier before any answer is back."""
        self.received += [operation.key for operation in operations]
        answers = [self._answer(operation, work) for operation in operations]
        self.during_call()
        return answers

    def _answer(self, operation: Operation, work: Callable[[Operation], Answer]) -> Answer:
        scripted = self._answers[operation.key].popleft() if self._answers[operation.key] else None
        if scripted is not None and not scripted.works:
            return scripted.answer
        honest = self._remembered.get(operation.key) if self._honours_keys else None
        if honest is None:
            honest = self._remembered[operation.key] = work(operation)
        return honest if scripted is None else scripted.answer

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

    def _find(self, operations: Sequence[Operation], find: Callable[[Operation], list[Booking]]) -> list[LookUp]:
        self.looked_up += [operation.key for operation in operations]
        findings = []
        for operation in operations:
            if self._look_ups[operation.key]:
                findings.append(self._look_ups[operation.key].popleft())
            elif found := find(operation):
                findings.append(LookUp(Finding.FOUND, result={"reference": found[0].reference}))
            else:
                findings.append(LookUp(Finding.NOT_FOUND))
        self.during_look_up()
        return findings
