"""A carrier: books parcels, answers look-ups, calls parcels back while they have not left."""

from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web

from entrypoints.sandbox.answers import Answer, Wording, json_answer, refusal
from entrypoints.sandbox.commands import Commands
from entrypoints.sandbox.faults import SHIPMENTS
from entrypoints.sandbox.front_desk import FrontDesk, WorkRequest
from entrypoints.sandbox.keys import fingerprint
from entrypoints.sandbox.ledger import Ledger, Shipment, ShipmentStatus
from entrypoints.sandbox.traffic import Subject
from entrypoints.sandbox.wire import json_object

TARGET: Final = SHIPMENTS
WORDING: Final = Wording(
    refuse=refusal,
    still_running=refusal(HTTPStatus.CONFLICT, "in_progress", "a request with this Idempotency-Key still runs"),
    other_body=refusal(
        HTTPStatus.UNPROCESSABLE_ENTITY, "idempotency_mismatch", "this Idempotency-Key was used with another body"
    ),
)

Rule = Callable[[object], str | None]  # what is wrong with a field, None if nothing is

_UNAUTHORISED: Final = refusal(HTTPStatus.UNAUTHORIZED, "unauthorised", "Authorization: Bearer <token> is required")


def _text(value: object) -> str | None:
    return None if isinstance(value, str) and value else "must be a string, and not empty"


def _parcel_number(value: object) -> str | None:
    # `type(…) is`, since a JSON `true` would pass as the integer 1
    return None if type(value) is int and value >= 1 else "must be a whole number from 1"


def _address(value: object) -> str | None:
    return None if isinstance(value, dict) else "must be an object"


_CANCELLATION: Final[Mapping[str, Rule]] = {"client_reference": _text}
_BOOKING: Final[Mapping[str, Rule]] = {
    "client_reference": _text,
    "order_id": _text,
    "number": _parcel_number,
    "ship_to": _address,
}


class Carrier:
    """The carrier's public interface, over the ledger of what it really did."""

    def __init__(self, ledger: Ledger, desk: FrontDesk, commands: Commands) -> None:
        self._ledger = ledger
        self._desk = desk
        self._commands = commands

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.post("/shipments", self._book),
            web.get("/shipments", self._find),
            web.post("/shipments/{reference}/cancellation", self._cancel),
            web.get("/shipment-commands/{command_id}", self._poll),
        )

    async def _book(self, request: web.Request) -> web.StreamResponse:
        body = await _well_formed(request, _BOOKING)
        if isinstance(body, Answer):
            return self._desk.turn_away(request, body)
        key, order_id = body["client_reference"], body["order_id"]

        def book() -> Answer:
            return json_answer(HTTPStatus.CREATED, _seen_by_client(self._ledger.book(key, order_id)))

        return await self._desk.work_once(request, _asked(request, body, order_id), book)

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        body = await _well_formed(request, _CANCELLATION)
        if isinstance(body, Answer):
            return self._desk.turn_away(request, body)
        reference = request.match_info["reference"]
        shipment = self._ledger.shipment(reference)

        def cancel() -> Answer:
            if shipment is None:
                return refusal(HTTPStatus.NOT_FOUND, "unknown_shipment", f"no shipment {reference}")
            if shipment.status is ShipmentStatus.LEFT:
                return refusal(HTTPStatus.CONFLICT, "too_late", f"{reference} has left")
            shipment.status = ShipmentStatus.CANCELLED
            return json_answer(HTTPStatus.OK, _seen_by_client(shipment))

        order_id = "" if shipment is None else shipment.order_id
        return await self._desk.work_once(request, _asked(request, body, order_id), cancel)

    async def _find(self, request: web.Request) -> web.StreamResponse:
        if not _authorised(request):
            return self._desk.turn_away(request, _UNAUTHORISED)
        key = request.query.get("client_reference")
        if not key:
            missing = refusal(HTTPStatus.BAD_REQUEST, "invalid_request", "is required", "client_reference")
            return self._desk.turn_away(request, missing)

        def find() -> Answer:
            running = [
                {"reference": None, "client_reference": key, "order_id": c.subject.order_id, "status": "in_progress"}
                for c in self._commands.running(key)
            ]
            booked = [_seen_by_client(shipment) for shipment in self._ledger.shipments_of_key(key)]
            return json_answer(HTTPStatus.OK, {"shipments": booked + running})

        order_ids: list[str | None] = [s.order_id for s in self._ledger.shipments_of_key(key)]
        order_ids += [c.subject.order_id for c in self._commands.running(key)]
        return await self._desk.look_up(request, Subject(key, order_id=next(iter(order_ids), None)), find)

    async def _poll(self, request: web.Request) -> web.StreamResponse:
        if not _authorised(request):
            return self._desk.turn_away(request, _UNAUTHORISED)
        command_id = request.match_info["command_id"]
        command = self._commands.command(command_id)
        if command is None:
            unknown = refusal(HTTPStatus.NOT_FOUND, "unknown_command", f"no command {command_id}")
            return await self._desk.look_up(request, Subject(reference=command_id), lambda: unknown)
        return await self._desk.look_up(request, command.subject, lambda: json_answer(HTTPStatus.OK, command.row()))


def _authorised(request: web.Request) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and bool(token.strip())


async def _well_formed(request: web.Request, rules: Mapping[str, Rule]) -> dict[str, Any] | Answer:
    if not _authorised(request):
        return _UNAUTHORISED
    body = await json_object(request)
    if body is None:
        return refusal(HTTPStatus.BAD_REQUEST, "malformed_json", "the body must be one JSON object")
    for field, complaint in rules.items():
        wrong = complaint(body.get(field))
        if wrong:
            return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request", wrong, field)
    return body


def _asked(request: web.Request, body: Mapping[str, Any], order_id: str) -> WorkRequest:
    return WorkRequest(
        Subject(body["client_reference"], request.headers.get("Idempotency-Key"), order_id),
        fingerprint=fingerprint(request.path, body),
    )


def _seen_by_client(shipment: Shipment) -> dict[str, Any]:
    return {
        "reference": shipment.reference,
        "client_reference": shipment.key,
        "order_id": shipment.order_id,
        "status": shipment.status,
    }
