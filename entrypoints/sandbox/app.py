"""The sandbox as one web application: the providers that exist so far, and the control routes of the world."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from entrypoints.sandbox import carrier, payments, refunds, stripe_errors
from entrypoints.sandbox.answers import Answer, Wording, json_answer, refusal
from entrypoints.sandbox.commands import Commands
from entrypoints.sandbox.faults import FaultRefused, FaultScript
from entrypoints.sandbox.front_desk import FrontDesk
from entrypoints.sandbox.keys import KeyBook
from entrypoints.sandbox.ledger import Ledger, Shipment, ShipmentStatus
from entrypoints.sandbox.payment_controls import PaymentControls
from entrypoints.sandbox.payment_ledger import PaymentIntent, PaymentLedger, Refund
from entrypoints.sandbox.traffic import SeenRequest, Subject, Traffic
from entrypoints.sandbox.wire import json_object, response

LOOPBACK: Final = "127.0.0.1"  # the only address at which this world may be found: it takes any token
SECONDS_PER_HOUR: Final = 3600


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """What kind of providers this world has.

    Units: `…key_window_hours` from the first use of a key (24 h as at Stripe), the carrier's without a prefix;
    `latency_ms` per call of a provider.
    """

    carrier_honours_keys: bool = True
    key_window_hours: float = 24.0
    latency_ms: int = 0
    stripe_honours_keys: bool = True
    stripe_key_window_hours: float = 24.0


def build_app(options: SandboxOptions) -> web.Application:
    """A fresh world in which nothing has happened yet."""
    ledger, payment_ledger, traffic, commands = Ledger(), PaymentLedger(), Traffic(), Commands()
    faults = FaultScript(built=(payments.TARGET, refunds.TARGET, carrier.TARGET))
    carrier_keys = KeyBook(options.key_window_hours * SECONDS_PER_HOUR)
    # One book for payments and refunds: at Stripe a key belongs to the account.
    stripe_keys = KeyBook(options.stripe_key_window_hours * SECONDS_PER_HOUR)

    def desk(target: str, keys: KeyBook | None, wording: Wording) -> FrontDesk:
        return FrontDesk(target, faults, traffic, keys, commands, wording, options.latency_ms / 1000)

    def stripe_desk(target: str) -> FrontDesk:
        return desk(target, stripe_keys if options.stripe_honours_keys else None, stripe_errors.WORDING)

    carrier_desk = desk(carrier.TARGET, carrier_keys if options.carrier_honours_keys else None, carrier.WORDING)
    app = web.Application(middlewares=[loopback_only])
    app.add_routes(carrier.Carrier(ledger, carrier_desk, commands).routes())
    app.add_routes(payments.Payments(payment_ledger, stripe_desk(payments.TARGET)).routes())
    app.add_routes(refunds.Refunds(payment_ledger, stripe_desk(refunds.TARGET)).routes())
    app.add_routes(PaymentControls(payment_ledger).routes())
    app.add_routes(ControlRoutes(ledger, payment_ledger, faults, traffic, (carrier_keys, stripe_keys)).routes())
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

    def __init__(
        self,
        ledger: Ledger,
        payment_ledger: PaymentLedger,
        faults: FaultScript,
        traffic: Traffic,
        keys: Iterable[KeyBook],
    ) -> None:
        self._ledger = ledger
        self._payment_ledger = payment_ledger
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
        """All of it, or what belongs to one order or to one customer."""
        order_id, customer_id = request.query.get("order_id"), request.query.get("customer_id")
        shipments: Iterable[Shipment] = ()
        charges: Iterable[PaymentIntent] = ()
        made_refunds: Iterable[Refund] = ()
        if order_id is not None:
            shipments = self._ledger.shipments_of_order(order_id)
        elif customer_id is not None:
            charges = self._payment_ledger.intents_of_customer_id(customer_id)
            made_refunds = [refund for charge in charges for refund in charge.refunds]
        else:
            shipments, charges = self._ledger.shipments(), self._payment_ledger.intents
            made_refunds = self._payment_ledger.refunds
        shown = {
            "charges": [charge.row() for charge in charges],
            "refunds": [refund.row() for refund in made_refunds],
            "shipments": [shipment.row() for shipment in shipments],
            "mails": [],  # the shape is the contract's; what has no provider yet has no rows
        }
        return response(json_answer(HTTPStatus.OK, shown))

    async def _show_summary(self, _: web.Request) -> web.Response:
        tallies = {
            "charges": self._payment_ledger.tally_charges(),
            "refunds": self._payment_ledger.tally_refunds(),
            "shipments": self._ledger.tally_shipments(),
        }
        return response(json_answer(HTTPStatus.OK, {kind: asdict(tally) for kind, tally in tallies.items()}))

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
        for book in self._keys:
            book.forget_all()
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
        subject = Subject(idempotency_key=request.headers.get("Idempotency-Key"))
        self._traffic.note(SeenRequest("elsewhere", request.method, subject, status=HTTPStatus.OK))
        return response(Answer(HTTPStatus.OK, b"<!doctype html><html><body>Welcome.</body></html>", "text/html"))


def _unprocessable(refused: FaultRefused) -> Answer:
    return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_fault", refused.message, refused.field)
