"""Scripted faults: what goes wrong, with which request, how often; so that every trap of the real world can be set."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, Final

from entrypoints.sandbox.answers import Answer, Wording, json_answer
from entrypoints.sandbox.traffic import Subject

TARGETS: Final = ("charges", "refunds", "shipments", "labels", "mail")
SHIPMENTS: Final = "shipments"
LOOK_UP: Final = "GET "  # a match that begins with this concerns look-ups, any other one concerns POSTs

_FIELDS: Final = ("target", "match", "fault", "times")
_KNOWN: Final = (
    "reset_before reset_after silent_after close_after slow html cut_json bom maintenance in_progress "
    "body_<text> retry_after_<text> redirect_<301|302|303|307|308> status_<400..599> status_<200..599>_after "
    "replayed_500 (nothing done, the answer kept under the key), of shipments only: wrong_order "
    "status_202 status_202_<seconds>"
)


class Work(Enum):
    """How much of the asked work really happens."""

    DONE = auto()
    NOTHING = auto()
    FAILED = auto()  # nothing happens, and that stays the answer under the key
    ACCEPTED = auto()  # answered 202 now, done later
    IN_BACKGROUND = auto()  # answered 409 now, done later


class Delivery(Enum):
    """How the answer travels; only WHOLE and DRIP let one arrive."""

    WHOLE = auto()
    DRIP = auto()
    RESET = auto()
    SILENCE = auto()
    CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a call goes wrong; with all defaults, none."""

    name: str = ""
    work: Work = Work.DONE
    delivery: Delivery = Delivery.WHOLE
    instead: Callable[[Wording], Answer] | None = None
    spoil: Callable[[Answer], Answer] | None = None
    after_seconds: float = 0.0

    def answer(self, honest: Answer | None, wording: Wording) -> Answer | None:
        """What goes out where `honest` would have: None if nothing was done and nothing is to be said."""
        if self.instead is not None:
            return self.instead(wording)
        return honest if honest is None or self.spoil is None else self.spoil(honest)


NO_FAULT: Final = Fault()


class FaultRefused(ValueError):
    """This fault cannot be scripted; `field` names what is wrong with it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@dataclass(slots=True)
class ScriptedFault:
    """A fault that waits for its request.

    Units: `times` in requests, None = for ever.
    """

    target: str
    match: str
    fault: Fault
    times: int | None

    def concerns(self, target: str, method: str, subject: Subject) -> bool:
        if target != self.target or (method == "GET") != self.match.startswith(LOOK_UP):
            return False
        return subject.is_named_by(self.match.removeprefix(LOOK_UP))

    def row(self) -> dict[str, Any]:
        return {"target": self.target, "match": self.match, "fault": self.fault.name, "times": self.times}


class FaultScript:
    """The faults still to come, taken in the order in which they were scripted."""

    def __init__(self, built: Collection[str]) -> None:
        """`built` are the targets that exist in this world; a fault for another could never strike."""
        self._built = built
        self._waiting: list[ScriptedFault] = []

    def add(self, wish: Mapping[str, Any]) -> ScriptedFault:
        """Raises: FaultRefused naming the field."""
        scripted = _scripted(wish, self._built)
        self._waiting.append(scripted)
        return scripted

    def take(self, target: str, method: str, subject: Subject) -> Fault:
        """The first fault that concerns this request, used up by one; `NO_FAULT` if there is none."""
        for position, scripted in enumerate(self._waiting):
            if not scripted.concerns(target, method, subject):
                continue
            if scripted.times is not None:
                scripted.times -= 1
                if scripted.times == 0:
                    del self._waiting[position]
            return scripted.fault
        return NO_FAULT

    def clear(self) -> None:
        self._waiting.clear()

    def rows(self) -> list[dict[str, Any]]:
        return [scripted.row() for scripted in self._waiting]


def _scripted(wish: Mapping[str, Any], built: Collection[str]) -> ScriptedFault:
    for field in wish:
        if field not in _FIELDS:
            raise FaultRefused(field, f"unknown field; known are {', '.join(_FIELDS)}")
    target, match, name, times = wish.get("target"), wish.get("match", ""), wish.get("fault"), wish.get("times", 1)
    if target not in TARGETS:
        raise FaultRefused("target", f"must be one of {', '.join(TARGETS)}")
    if target not in built:
        raise FaultRefused("target", f"this sandbox has no {target} yet, only {', '.join(built)}")
    if not isinstance(match, str):
        raise FaultRefused("match", "must be a string: a part of the key, of the order id or of the customer id")
    if times is not None and (type(times) is not int or times < 1):
        raise FaultRefused("times", "must be a whole number from 1, or null for ever")
    fault = _fault(name) if isinstance(name, str) else None
    if fault is None:
        raise FaultRefused("fault", f"must be one of {_KNOWN}")
    if match.startswith(LOOK_UP) and fault.work in (Work.FAILED, Work.ACCEPTED, Work.IN_BACKGROUND):
        raise FaultRefused("fault", f"{name} needs work to be done, a look-up does none")
    if target != SHIPMENTS and (fault.work is Work.ACCEPTED or fault.spoil is _of_another_order):
        raise FaultRefused("fault", f"{name} is a fault of {SHIPMENTS} only")
    return ScriptedFault(target, match, fault, times)


def _fault(name: str) -> Fault | None:
    if name in _PLAIN:
        return replace(_PLAIN[name], name=name)
    for pattern, build in _WITH_ARGUMENT:
        found = re.fullmatch(pattern, name)
        if found:
            return replace(build(*found.groups()), name=name)
    return None


def _nothing_but(instead: Callable[[Wording], Answer]) -> Fault:
    return Fault(work=Work.NOTHING, instead=instead)


def _plain_status(status: int) -> Callable[[Wording], Answer]:
    if status < HTTPStatus.BAD_REQUEST:
        return _always(Answer(status, b"" if status in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED) else b"{}"))
    if status == HTTPStatus.CONFLICT:
        return lambda wording: wording.still_running
    known = status in HTTPStatus.__members__.values()
    code = HTTPStatus(status).name.lower() if known else f"status_{status}"
    return lambda wording: wording.refuse(status, code, "scripted fault")


def _too_many(retry_after: str) -> Callable[[Wording], Answer]:
    # One header per line: some carriers send two, and then a client must not trip over either.
    headers = tuple(("Retry-After", line) for line in retry_after.split("\n"))
    busy = _plain_status(HTTPStatus.TOO_MANY_REQUESTS)
    return lambda wording: replace(busy(wording), headers=headers)


def _redirect(status: str) -> Callable[[Wording], Answer]:
    return _always(replace(json_answer(int(status), {}), headers=(("Location", "/_elsewhere"),)))


def _always(answer: Answer) -> Callable[[Wording], Answer]:
    return lambda _: answer


def _cut(honest: Answer) -> Answer:
    return replace(honest, body=honest.body[: len(honest.body) // 2])  # half of a JSON object is never JSON


def _with_byte_order_mark(honest: Answer) -> Answer:
    return replace(honest, body=b"\xef\xbb\xbf" + honest.body)


def _of_another_order(honest: Answer) -> Answer:
    def renamed(part: dict[str, Any]) -> dict[str, Any]:
        return part | {"order_id": f"{part['order_id']}-another"} if "order_id" in part else part

    return replace(honest, body=json.dumps(json.loads(honest.body, object_hook=renamed)).encode())


_PAGE: Final = b"<!doctype html><html><title>Maintenance</title><body>We will be back soon.</body></html>"

_PLAIN: Final[Mapping[str, Fault]] = {
    "reset_before": Fault(work=Work.NOTHING, delivery=Delivery.RESET),
    "reset_after": Fault(delivery=Delivery.RESET),
    "silent_after": Fault(delivery=Delivery.SILENCE),
    "close_after": Fault(delivery=Delivery.CLOSE),
    "slow": Fault(delivery=Delivery.DRIP),
    "html": Fault(instead=_always(Answer(200, _PAGE, "text/html"))),
    "maintenance": Fault(instead=_always(Answer(503, _PAGE, "text/html", (("Retry-After", "300"),)))),
    "cut_json": Fault(spoil=_cut),
    "bom": Fault(spoil=_with_byte_order_mark),
    "wrong_order": Fault(spoil=_of_another_order),
    "replayed_500": Fault(work=Work.FAILED),
    "in_progress": Fault(work=Work.IN_BACKGROUND, instead=_plain_status(409), after_seconds=0.9),
}

_WITH_ARGUMENT: Final[tuple[tuple[str, Callable[..., Fault]], ...]] = (
    (r"status_202(?:_(\d{1,5}(?:\.\d+)?))?", lambda text: Fault(work=Work.ACCEPTED, after_seconds=float(text or 1))),
    (r"status_([45]\d\d)", lambda n: _nothing_but(_plain_status(int(n)))),
    (r"status_([2-5]\d\d)_after", lambda n: Fault(instead=_plain_status(int(n)))),
    (r"retry_after_([^\x00-\x09\x0b-\x1f\x7f\ud800-\udfff]+)", lambda text: _nothing_but(_too_many(text))),
    (r"redirect_(30[12378])", lambda n: _nothing_but(_redirect(n))),
    (r"body_([^\ud800-\udfff]*)", lambda text: Fault(spoil=lambda honest: replace(honest, body=text.encode()))),
)
