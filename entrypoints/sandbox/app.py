"""The sandbox as one web application: the providers that exist so far, and the control routes of the world."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from entrypoints.sandbox import carrier
from entrypoints.sandbox.answers import Answer, json_answer, refusal
from entrypoints.sandbox.commands import Commands
from entrypoints.sandbox.faults import FaultRefused, FaultScript
from entrypoints.sandbox.front_desk import FrontDesk
from entrypoints.sandbox.keys import KeyBook
from entrypoints.sandbox.ledger import Ledger, ShipmentStatus
from entrypoints.sandbox.traffic import SeenRequest, Traffic
from entrypoints.sandbox.wire import json_object, response

LOOPBACK: Final = "127.0.0.1"  # the only address at which this world may be found: it takes any token
SECONDS_PER_HOUR: Final = 3600


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """What kind of providers this world has.

    Units: `key_window_hours` from the first use of a key (24 h as at Stripe); `latency_ms` per call of a provider.
    """

    carrier_honours_keys: bool = True
    key_window_hours: float = 24.0
    latency_ms: int = 0


def build_app(options: SandboxOptions) -> web.Application:
    """A fresh world in which nothing has happened yet."""
    ledger, traffic, commands = Ledger(), Traffic(), Commands()
    faults = FaultScript(built=(carrier.TARGET,))
    keys = KeyBook(options.key_window_hours * SECONDS_PER_HOUR)
    desk = FrontDesk(
        target=carrier.TARGET,
        faults=faults,
        traffic=traffic,
        keys=keys if options.carrier_honours_keys else None,
        commands=commands,
        latency_seconds=options.latency_ms / 1000,
    )
    app = web.Application(middlewares=[loopback_only])
    app.add_routes(carrier.Carrier(ledger, desk, commands).routes())
    app.add_routes(ControlRoutes(ledger, faults, traffic, keys).routes())
    return app


@web.middleware
async def loopback_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Whoever binds this application elsewhere gets nothing out of it."""
    address = request.get_extra_info("sockname")
    if address is None or address[0] != LOOPBACK:
        return response(refusal(HTTPStatus.FORBIDDEN, "loopback_only", f"the sandbox answers at {LOOPBACK} only"))
    return await handler(request)


class ControlRoutes:
    """What tests and people may see and change of the world from above; no provider has these."""

    def __init__(self, ledger: Ledger, faults: FaultScript, traffic: Traffic, keys: KeyBook) -> None:
        self._ledger = ledger
        self._faults = faults
        self._traffic = traffic
        self._keys = keys

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.get("/_health", self._show_health),
            web.get("/_ledger", self._show_ledger),
            web.get("/_ledger/summary", self._show_summary),
            web.get("/_requests", self._show_requests),
            web.get("/_faults", self._show_faults),
            web.post("/_faults", self._script_fault),
            web.delete("/_faults", self._clear_faults),
            web.post("/_forget_keys", self._forget_keys),
            web.post("/_shipments/{reference}/leave", self._let_leave),
            web.route("*", "/_elsewhere", self._arrive_elsewhere),
        )

    async def _show_health(self, _: web.Request) -> web.Response:
        return response(json_answer(HTTPStatus.OK, {"status": "ok"}))

    async def _show_ledger(self, request: web.Request) -> web.Response:
        order_id = request.query.get("order_id")
        shipments = self._ledger.shipments() if order_id is None else self._ledger.shipments_of_order(order_id)
        # The shape is the contract's; what has no provider yet has no rows.
        shown = {"charges": [], "refunds": [], "shipments": [shipment.row() for shipment in shipments], "mails": []}
        return response(json_answer(HTTPStatus.OK, shown))

    async def _show_summary(self, _: web.Request) -> web.Response:
        return response(json_answer(HTTPStatus.OK, {"shipments": asdict(self._ledger.tally_shipments())}))

    async def _show_requests(self, request: web.Request) -> web.Response:
        report = self._traffic.report(request.query.get("target"), request.query.get("method"))
        return response(json_answer(HTTPStatus.OK, report))

    async def _show_faults(self, _: web.Request) -> web.Response:
        return response(json_answer(HTTPStatus.OK, {"faults": self._faults.rows()}))

    async def _script_fault(self, request: web.Request) -> web.Response:
        wish = await json_object(request)
        if wish is None:
            return response(refusal(HTTPStatus.BAD_REQUEST, "malformed_json", "the body must be one JSON object"))
        try:
            scripted = self._faults.add(wish)
        except FaultRefused as refused:
            return response(_unprocessable(refused))
        return response(json_answer(HTTPStatus.CREATED, scripted.row()))

    async def _clear_faults(self, _: web.Request) -> web.Response:
        self._faults.clear()
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def _forget_keys(self, _: web.Request) -> web.Response:
        self._keys.forget_all()
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def _let_leave(self, request: web.Request) -> web.Response:
        """The parcel is handed to the driver: from here on a cancellation is too late."""
        reference = request.match_info["reference"]
        shipment = self._ledger.shipment(reference)
        if shipment is None:
            return response(refusal(HTTPStatus.NOT_FOUND, "unknown_shipment", f"no shipment {reference}"))
        if shipment.status is ShipmentStatus.CANCELLED:
            return response(refusal(HTTPStatus.CONFLICT, "cancelled", f"{reference} is cancelled and stays here"))
        shipment.status = ShipmentStatus.LEFT
        return response(json_answer(HTTPStatus.OK, shipment.row()))

    async def _arrive_elsewhere(self, request: web.Request) -> web.Response:
        """Where redirects point: whoever follows one is seen here, and gets a page that must not be believed."""
        key = request.headers.get("Idempotency-Key")
        self._traffic.note(SeenRequest("elsewhere", request.method, key, None, None, HTTPStatus.OK))
        return response(Answer(HTTPStatus.OK, b"<!doctype html><html><body>Welcome.</body></html>", "text/html"))


def _unprocessable(refused: FaultRefused) -> Answer:
    return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_fault", refused.message, refused.field)
