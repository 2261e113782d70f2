"""What Stripe's answers say, read without believing more than they do, and what its complaints mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeVar

from adapters.calls.replies import NoReply, Reply
from domain.operations import Answer, Finding, LookUp, Outcome

Read = TypeVar("Read")

# The provider's words for a request that was not taken, whatever the status. Source: docs.stripe.com/error-codes
_NOT_TAKEN: Final = ("lock_timeout", "rate_limit")
_FOR_NOW: Final = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_MANY_REQUESTS,
)
STORED: Final = "a stored answer, given before"
_TEXTS_OF_A_COMPLAINT: Final = ("type", "code", "decline_code", "param", "message")


class NotBelieved(Exception):
    """The answer does not say what it should. `for_now`: another time it may (an outage, a limit, a wrong key)."""

    def __init__(self, reason: str, *, for_now: bool = False) -> None:
        super().__init__(reason)
        self.for_now = for_now


@dataclass(frozen=True, slots=True)
class ProvidersIntent:
    """A payment intent as Stripe knows it. Units: the currency's minor unit; the currency is in lower case.

    `key` is the one that we gave it; `received` is None where it is not told; `error` says why it was not paid.
    """

    reference: str
    status: str
    key: str | None
    amount: int
    currency: str
    received: int | None
    error: str

    @property
    def result(self) -> Mapping[str, Any]:
        return {"reference": self.reference, "status": self.status}


@dataclass(frozen=True, slots=True)
class ProvidersRefund:
    """A refund as Stripe knows it. Units: the currency's minor unit; the currency is in lower case."""

    reference: str
    status: str
    key: str | None
    amount: int
    currency: str
    charge: str | None
    failure: str


@dataclass(frozen=True, slots=True)
class Complaint:
    """What Stripe itself says against a request. `intent`: the payment intent it shows with it, unread."""

    status: int
    type: str
    code: str
    decline_code: str
    param: str
    message: str
    intent: object

    def __str__(self) -> str:
        name = f"{self.code or self.type}/{self.decline_code}" if self.decline_code else self.code or self.type
        place = f" ({self.param})" if self.param else ""
        status = "" if self.status == HTTPStatus.PAYMENT_REQUIRED else f"{self.status} "
        return f"{status}{name}{place}: {self.message}"


def intent_of(reply: Reply) -> ProvidersIntent:
    """The payment intent that was answered with. Raises: NotBelieved, with a glimpse of what came instead."""
    return _read(reply, intent_in)


def refund_of(reply: Reply) -> ProvidersRefund:
    """The refund that was answered with. Raises: NotBelieved, with a glimpse of what came instead."""
    return _read(reply, refund_in)


def intent_in(content: object) -> ProvidersIntent:
    """The payment intent that is shown. Raises: NotBelieved if there is none."""
    intent = _object(content, "payment_intent")
    received = intent.get("amount_received")
    return ProvidersIntent(
        reference=_text(intent, "id"),
        status=_text(intent, "status"),
        key=_key(intent),
        amount=_whole(intent, "amount"),
        currency=_text(intent, "currency"),
        received=None if received is None else _whole(intent, "amount_received"),
        error=_error_of(intent.get("last_payment_error")),
    )


def refund_in(content: object) -> ProvidersRefund:
    """The refund that is shown. Raises: NotBelieved if there is none."""
    refund = _object(content, "refund")
    charge, failure = refund.get("payment_intent"), refund.get("failure_reason")
    return ProvidersRefund(
        reference=_text(refund, "id"),
        status=_text(refund, "status"),
        key=_key(refund),
        amount=_whole(refund, "amount"),
        currency=_text(refund, "currency"),
        charge=charge if isinstance(charge, str) else None,
        failure=failure if isinstance(failure, str) else "",
    )


def page_of(reply: Reply) -> tuple[Sequence[Mapping[str, Any]], bool]:
    """The objects on one page of a list, and whether more follow. Raises: NotBelieved if it is none."""
    return _read(reply, _page_in)


def _page_in(content: object) -> tuple[Sequence[Mapping[str, Any]], bool]:
    page = _object(content, "list")
    objects, has_more = page.get("data"), page.get("has_more")
    if not isinstance(objects, list) or not isinstance(has_more, bool) or (has_more and not objects):
        raise NotBelieved("not a page of a list")
    for one in objects:
        if not isinstance(one, dict):
            raise NotBelieved("a list of something else")
        _text(one, "id")
    return objects, has_more


def _read(reply: Reply, read: Callable[[object], Read]) -> Read:
    complaint = complaint_in(reply)
    for_now = reply.status in _FOR_NOW or reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if complaint is not None:
        raise NotBelieved(str(complaint), for_now=for_now)
    try:
        if reply.status != HTTPStatus.OK:
            raise NotBelieved("no answer of the provider")
        return read(reply.content())
    except NotBelieved as wrong:
        raise NotBelieved(f"{wrong}: {reply.glimpse()}", for_now=for_now) from None


def not_looked_up(why: NoReply | NotBelieved) -> LookUp:
    """A look-up that came to nothing. A provider that answers, but never what it is asked, is not asked for ever."""
    unclear = isinstance(why, NotBelieved) and not why.for_now
    return LookUp(Finding.UNCLEAR if unclear else Finding.NO_ANSWER, str(why))


def complaint_in(reply: Reply) -> Complaint | None:
    """The error in Stripe's own form; a proxy's page, or another machine's error, is none."""
    content = reply.content()
    error = None if content is None else content.get("error")
    if not isinstance(error, dict) or not isinstance(error.get("type"), str) or not error["type"]:
        return None
    told = {name: error[name] if isinstance(error.get(name), str) else "" for name in _TEXTS_OF_A_COMPLAINT}
    return Complaint(reply.status, intent=error.get("payment_intent"), **told)


def sorted_no(reply: Reply) -> Answer:
    """Whatever is not a yes, by its status and by whether Stripe itself speaks."""
    complaint = complaint_in(reply)
    outcome = _outcome(reply.status, complaint)
    reason = reply.glimpse() if complaint is None else str(complaint)
    if outcome is Outcome.NOT_SENT:
        reason = f"the provider does not accept our key, check it: {reason}"
    elif outcome is Outcome.FLAGGED:
        reason = f"the provider knows our key with other content: {reason}"
    elif outcome is Outcome.RUNNING:
        reason = f"our own earlier request is still running there: {reason}"
    if reply.is_replayed:
        reason = f"{STORED}: {reason}"
    return Answer(outcome, reason, retry_after_seconds=reply.retry_after_seconds)


def _outcome(status: int, complaint: Complaint | None) -> Outcome:
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Outcome.THROTTLED
    if 500 <= status <= 599:
        return Outcome.UNAVAILABLE
    # Redirects, odd successes and pages of proxies: it may be done or not.
    if complaint is None or not 400 <= status <= 499:
        return Outcome.UNKNOWN
    if complaint.code in _NOT_TAKEN:
        return Outcome.THROTTLED
    match status, complaint.type:
        case ((HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN), _):
            return Outcome.NOT_SENT
        case HTTPStatus.CONFLICT, _:
            return Outcome.RUNNING
        case HTTPStatus.PAYMENT_REQUIRED, _:
            return Outcome.REFUSED
        case ((HTTPStatus.BAD_REQUEST | HTTPStatus.NOT_FOUND), "idempotency_error"):
            return Outcome.FLAGGED
        case ((HTTPStatus.BAD_REQUEST | HTTPStatus.NOT_FOUND), ("invalid_request_error" | "card_error")):
            return Outcome.REFUSED
        case _:
            return Outcome.UNKNOWN


def _object(content: object, kind: str) -> Mapping[str, Any]:
    if not isinstance(content, dict) or content.get("object") != kind:
        raise NotBelieved(f"not a {kind}")
    return content


def _key(content: Mapping[str, Any]) -> str | None:
    metadata = content.get("metadata")
    key = metadata.get("ikkai_key") if isinstance(metadata, dict) else None
    return key if isinstance(key, str) else None


def _error_of(error: object) -> str:
    if not isinstance(error, dict):
        return ""
    name = "/".join(part for part in (error.get("code"), error.get("decline_code")) if isinstance(part, str))
    message = error.get("message")
    return f"{name}: {message if isinstance(message, str) else ''}"


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content.get(name)
    # What is not printable cannot be stored, shown or sent back.
    if isinstance(value, str) and 0 < len(value) <= 255 and value.isprintable() and value == value.strip():
        return value
    raise NotBelieved(f"no usable {name}")


def _whole(content: Mapping[str, Any], name: str) -> int:
    value = content.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise NotBelieved(f"no usable {name}")
