"""A payment provider that speaks the part of Stripe's API that we use: payments. Refunds are in `refunds`."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Final

from aiohttp import web

from entrypoints.sandbox.answers import Answer, json_answer
from entrypoints.sandbox.front_desk import FrontDesk, WorkRequest
from entrypoints.sandbox.keys import fingerprint
from entrypoints.sandbox.payment_ledger import PageWish, PaymentIntent, PaymentLedger, page
from entrypoints.sandbox.payment_methods import PAYMENT_METHODS
from entrypoints.sandbox.payment_objects import intent_object, list_object, outcome
from entrypoints.sandbox.stripe_errors import StripeRefused, invalid_request, missing, stripe_error
from entrypoints.sandbox.stripe_form import Form, guarded, metadata, parts, read_form, required, text, whole
from entrypoints.sandbox.traffic import Subject

TARGET: Final = "charges"
URL: Final = "/v1/payment_intents"

DEFAULT_PAGE: Final = 10  # Stripe's, both
MAX_PAGE: Final = 100
_MINIMUM: Final[Mapping[str, int]] = {"jpy": 50, "usd": 50, "eur": 50}  # Source: docs.stripe.com/currencies

_OLD_TYPES: Final = "payment_method_types"
_OLD_TYPES_END: Final = "2026-09-30"  # Source: docs.stripe.com/changelog, 2026-09-30.endive
_TYPES: Final = ("allowed_payment_method_types", _OLD_TYPES)
_CREATION: Final = (
    *("amount", "currency", "customer", "payment_method", "confirm", "off_session", "metadata"),
    *_TYPES,
)
_LISTING: Final = ("customer", "created", "limit", "starting_after")


class Payments:
    """The provider's public interface to payments, over the ledger of what it really did."""

    def __init__(self, ledger: PaymentLedger, desk: FrontDesk) -> None:
        self._ledger = ledger
        self._desk = desk

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.post(URL, guarded(self._desk, self._create)),
            web.get(URL, guarded(self._desk, self._list)),
            web.get(f"{URL}/{{intent_id}}", guarded(self._desk, self._show)),
            web.post(f"{URL}/{{intent_id}}/cancel", guarded(self._desk, self._cancel)),
        )

    async def _create(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, _CREATION)
        amount, currency = whole("amount", required(form, "amount")), _currency(required(form, "currency"))
        customer, noted = text(form, "customer"), metadata(form)
        payment_method = required(form, "payment_method")
        if required(form, "confirm") != "true":
            raise StripeRefused(invalid_request("This provider only takes payments that are confirmed", "confirm"))
        _check_types(form, version=request.headers.get("Stripe-Version", ""))
        subject = subject_of(request, noted, noted.get("customer_id"), customer)

        def pay() -> Answer:
            least, method = _MINIMUM.get(currency, 1), PAYMENT_METHODS.get(payment_method)
            if amount < least:
                message = f"Amount must be at least {least} {currency}"
                return invalid_request(message, "amount", "amount_too_small")
            if method is None:
                return missing("PaymentMethod", payment_method, "payment_method")
            intent = self._ledger.pay(
                amount=amount,
                currency=currency,
                customer=customer,
                payment_method=payment_method,
                method=method,
                key=subject.key or subject.idempotency_key,
                metadata=noted,
            )
            if method.succeeds_after_seconds is not None:
                loop = asyncio.get_running_loop()
                loop.call_later(method.succeeds_after_seconds, lambda: intent.settle(succeeded=True))
            return outcome(intent)

        return await self._desk.work_once(request, asked(request, subject, form), pay)

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, ("cancellation_reason",))
        intent_id = request.match_info["intent_id"]
        intent = self._ledger.intent(intent_id)

        def cancel() -> Answer:
            if intent is None:
                return missing("payment_intent", intent_id, "intent")
            if not intent.cancel():
                return stripe_error(
                    HTTPStatus.BAD_REQUEST,
                    "invalid_request_error",
                    f"You cannot cancel this PaymentIntent because it has a status of {intent.status}.",
                    code="payment_intent_unexpected_state",
                    payment_intent=intent_object(intent),
                )
            return json_answer(HTTPStatus.OK, intent_object(intent))

        subject = subject_of_intent(request, intent_id, intent)
        return await self._desk.work_once(request, asked(request, subject, form), cancel)

    async def _show(self, request: web.Request) -> web.StreamResponse:
        await read_form(request, ())
        intent_id = request.match_info["intent_id"]
        intent = self._ledger.intent(intent_id)

        def show() -> Answer:
            if intent is None:
                return missing("payment_intent", intent_id, "intent")
            return json_answer(HTTPStatus.OK, intent_object(intent))

        return await self._desk.look_up(request, subject_of_intent(request, intent_id, intent), show)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, _LISTING)
        customer, wish, behind = text(form, "customer"), page_wish(form), text(form, "starting_after")

        def find() -> Answer:
            after = None if behind is None else self._ledger.intent(behind)
            if behind is not None and after is None:
                return missing("payment_intent", behind, "starting_after")
            intents = self._ledger.intents if customer is None else self._ledger.intents_of_customer(customer)
            shown, has_more = page(intents, wish, after)
            return list_object(URL, [intent_object(intent) for intent in shown], has_more)

        return await self._desk.look_up(request, Subject(reference=customer), find)


def asked(request: web.Request, subject: Subject, form: Form) -> WorkRequest:
    """What is asked for, as a key remembers it: the path and every field."""
    return WorkRequest(subject, fingerprint(request.path, form))


def subject_of(
    request: web.Request, noted: Mapping[str, str], customer_id: str | None, reference: str | None
) -> Subject:
    """What a request is about; the client's reference is in the metadata."""
    return Subject(
        noted.get("ikkai_key"), request.headers.get("Idempotency-Key"), customer_id=customer_id, reference=reference
    )


def subject_of_intent(request: web.Request, intent_id: str, intent: PaymentIntent | None) -> Subject:
    """For a request that only names a payment; what the payment is about is known to the provider."""
    if intent is None:
        return subject_of(request, {}, None, intent_id)
    return subject_of(request, intent.metadata, intent.customer_id, intent_id)


def page_wish(form: Form) -> PageWish:
    """Raises: StripeRefused naming the field."""
    limit = whole("limit", text(form, "limit") or str(DEFAULT_PAGE), MAX_PAGE)
    if limit < 1:
        raise StripeRefused(invalid_request(f"Must be from 1 to {MAX_PAGE}", "limit", "parameter_invalid_integer"))
    created = {name: whole(f"created[{name}]", value) for name, value in parts(form, "created").items()}
    for name in created.keys() - {"gte", "lte"}:
        raise StripeRefused(invalid_request("Received unknown parameter", f"created[{name}]", "parameter_unknown"))
    return PageWish(limit, created.get("gte"), created.get("lte"))


def _check_types(form: Form, version: str) -> None:
    """Who names no API version is served as before the old name ended."""
    if _OLD_TYPES in form and version >= _OLD_TYPES_END:  # versions begin with their date
        message = f"{_OLD_TYPES} cannot be written since API version {_OLD_TYPES_END}.endive"
        raise StripeRefused(invalid_request(message, _OLD_TYPES, "payment_method_types_no_longer_supported"))
    for name in _TYPES:
        if set(parts(form, name).values()) - {"card"}:
            raise StripeRefused(invalid_request("This provider takes cards only", name))


def _currency(code: str) -> str:
    if not re.fullmatch("[a-z]{3}", code):
        raise StripeRefused(invalid_request(f"Invalid currency: {code[:20]}, must be lower case", "currency"))
    return code
