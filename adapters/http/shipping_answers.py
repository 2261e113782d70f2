"""What the carrier's answers mean: believed only if they are about our parcel, and sorted into outcomes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from adapters.calls.replies import Reply
from domain.operations import Answer, Outcome

IN_PROGRESS: Final = "in_progress"
BOOKED: Final = "booked"
CANCELLED: Final = "cancelled"
_ONCE_BOOKED: Final = (BOOKED, CANCELLED, "left")

# What a status means by itself. Every other 4xx is a definite no, if the carrier itself says so.
_BY_STATUS: Final[Mapping[int, Outcome]] = {
    # Not applied for want of credentials (RFC 9110): ours to set right, so no parcel is refused for it.
    HTTPStatus.UNAUTHORIZED: Outcome.NOT_SENT,
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: Outcome.NOT_SENT,
    HTTPStatus.TOO_MANY_REQUESTS: Outcome.THROTTLED,
    # These say "not now", or "something else holds it", not whether it was done.
    HTTPStatus.REQUEST_TIMEOUT: Outcome.UNKNOWN,
    HTTPStatus.CONFLICT: Outcome.UNKNOWN,
    HTTPStatus.LOCKED: Outcome.UNKNOWN,
    HTTPStatus.TOO_EARLY: Outcome.UNKNOWN,
}


class NotBelieved(Exception):
    """The answer does not say what it should about our parcel."""

    def __init__(self, reason: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_seconds = retry_after_seconds


class AnotherOrder(NotBelieved):
    """The answer is about the parcel of another order: something is mixed up, and a person must see it."""


@dataclass(frozen=True, slots=True)
class CarriersParcel:
    """A parcel as the carrier knows it. `reference` is empty while it is still being booked."""

    reference: str
    status: str


@dataclass(frozen=True, slots=True)
class Complaint:
    """What the carrier itself says against a request."""

    status: int
    code: str
    message: str

    def says(self, status: int, code: str) -> bool:
        return (self.status, self.code) == (status, code)

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.message}"


def parcel_in(content: object, *, key: str, order_id: str) -> CarriersParcel:
    """The parcel an answer speaks of. Raises: NotBelieved unless it is ours, AnotherOrder where it is another's."""
    ours = _about(content, key, order_id)
    status, reference = ours.get("status"), ours.get("reference")
    if status == IN_PROGRESS and reference is None:
        return CarriersParcel("", IN_PROGRESS)
    if status not in _ONCE_BOOKED:
        raise NotBelieved("the status of the parcel is not known")
    return CarriersParcel(_text(reference, "reference"), status)


def parcels_in(reply: Reply, *, key: str, order_id: str) -> Sequence[CarriersParcel]:
    """The parcels a look-up by our key found. Raises: NotBelieved unless it answers for all of them."""
    content = reply.content()
    parcels = None if content is None else content.get("shipments")
    if reply.status != HTTPStatus.OK or not isinstance(parcels, list):
        raise NotBelieved(f"no list of parcels: {reply.glimpse()}", reply.retry_after_seconds)
    return [parcel_in(parcel, key=key, order_id=order_id) for parcel in parcels]


def taken_on(reply: Reply, *, key: str, order_id: str) -> Answer:
    """What became of a request for a parcel."""
    if reply.status in (HTTPStatus.OK, HTTPStatus.CREATED):
        return _if_believed(reply, lambda: _booked(reply, key, order_id))
    if reply.status == HTTPStatus.ACCEPTED:
        return _if_believed(reply, lambda: _accepted(reply, key, order_id))
    complaint = _complaint_in(reply)
    if complaint is not None and complaint.says(HTTPStatus.UNPROCESSABLE_ENTITY, "idempotency_mismatch"):
        return Answer(Outcome.FLAGGED, f"the carrier knows our key with other content: {complaint}")
    return _sorted_no(reply)


def _booked(reply: Reply, key: str, order_id: str) -> Answer:
    parcel = parcel_in(reply.content(), key=key, order_id=order_id)
    if parcel.status != BOOKED:
        raise NotBelieved(f"asked for just now, and {parcel.status}")
    return Answer(Outcome.DONE, result={"reference": parcel.reference})


def _accepted(reply: Reply, key: str, order_id: str) -> Answer:
    command_id = _text(_about(reply.content(), key, order_id).get("command_id"), "command_id")
    return Answer(Outcome.RUNNING, "accepted", {"command_id": command_id}, reply.retry_after_seconds)


def called_back(reply: Reply, *, parcel: CarriersParcel, key: str, order_id: str) -> Answer:
    """What became of asking to stop a parcel; `key` is that of its request.

    A definite no is never final here: the parcel is on its way to somebody who does not want it, so a person must know.
    """
    if reply.status == HTTPStatus.OK:
        return _if_believed(reply, lambda: _cancelled(reply, parcel, key, order_id))
    complaint = _complaint_in(reply)
    if complaint is not None and complaint.says(HTTPStatus.CONFLICT, "too_late"):
        return Answer(Outcome.FLAGGED, "too late: the parcel has left")
    answer = _sorted_no(reply)
    in_conflict = complaint is not None and (reply.status, answer.outcome) == (HTTPStatus.CONFLICT, Outcome.UNKNOWN)
    if in_conflict or answer.outcome is Outcome.REFUSED:
        return Answer(Outcome.FLAGGED, f"the carrier does not stop it: {answer.reason}")
    return answer


def _cancelled(reply: Reply, parcel: CarriersParcel, key: str, order_id: str) -> Answer:
    if parcel_in(reply.content(), key=key, order_id=order_id) != CarriersParcel(parcel.reference, CANCELLED):
        raise NotBelieved(f"does not say that {parcel.reference} is cancelled")
    return Answer(Outcome.DONE, result={"reference": parcel.reference})


def _if_believed(reply: Reply, read: Callable[[], Answer]) -> Answer:
    try:
        return read()
    except AnotherOrder as another:
        return Answer(Outcome.FLAGGED, str(another))
    except NotBelieved as wrong:
        return Answer(Outcome.UNKNOWN, f"{wrong}: {reply.glimpse()}")


def _sorted_no(reply: Reply) -> Answer:
    """Whatever is not a yes, by its status and by whether the carrier itself speaks."""
    complaint = _complaint_in(reply)
    reason = reply.glimpse() if complaint is None else str(complaint)
    outcome = _outcome(reply.status, complaint)
    if outcome is Outcome.NOT_SENT:
        reason = f"the carrier does not accept our credentials, check them: {reason}"
    return Answer(outcome, reason, retry_after_seconds=reply.retry_after_seconds)


def _outcome(status: int, complaint: Complaint | None) -> Outcome:
    if status in _BY_STATUS:
        running = complaint is not None and complaint.says(HTTPStatus.CONFLICT, IN_PROGRESS)
        return Outcome.RUNNING if running else _BY_STATUS[status]
    if 500 <= status <= 599:
        return Outcome.UNAVAILABLE
    # Redirects, odd successes and pages of proxies: the carrier may have done it or not.
    if complaint is None or not 400 <= status <= 499:
        return Outcome.UNKNOWN
    return Outcome.NOT_SENT if status == HTTPStatus.FORBIDDEN else Outcome.REFUSED


def _complaint_in(reply: Reply) -> Complaint | None:
    """The error in the carrier's own form; a proxy's page, or another machine's error, is none."""
    content = reply.content()
    error = None if content is None else content.get("error")
    if not isinstance(error, dict) or not isinstance(error.get("code"), str) or not error["code"]:
        return None
    message = error.get("message")
    return Complaint(reply.status, error["code"], message if isinstance(message, str) else "")


def _about(content: object, key: str, order_id: str) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise NotBelieved("not a JSON object")
    answered_for = content.get("order_id")
    if isinstance(answered_for, str) and answered_for != order_id:
        raise AnotherOrder(f"the carrier answered for order {answered_for} when asked for {order_id}")
    if answered_for != order_id or content.get("client_reference") != key:
        raise NotBelieved("does not name our parcel")
    return content


def _text(value: object, name: str) -> str:
    # What is not printable cannot be stored, shown or sent back.
    if isinstance(value, str) and 0 < len(value) <= 255 and value.isprintable() and value == value.strip():
        return value
    raise NotBelieved(f"no usable {name}")
