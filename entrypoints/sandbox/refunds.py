"""The payment provider's refunds, as far as we use Stripe's API."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from aiohttp import web

from entrypoints.sandbox.answers import Answer, json_answer
from entrypoints.sandbox.front_desk import FrontDesk
from entrypoints.sandbox.payment_ledger import PaymentIntent, PaymentLedger, Refund, page
from entrypoints.sandbox.payment_methods import IntentStatus
from entrypoints.sandbox.payment_objects import list_object, refund_object
from entrypoints.sandbox.payments import asked, page_wish, subject_of, subject_of_intent
from entrypoints.sandbox.stripe_errors import invalid_request, missing
from entrypoints.sandbox.stripe_form import guarded, metadata, read_form, required, text, whole
from entrypoints.sandbox.traffic import Subject

TARGET: Final = "refunds"
URL: Final = "/v1/refunds"

_CREATION: Final = ("payment_intent", "amount", "reason", "metadata")
_LISTING: Final = ("payment_intent", "created", "limit", "starting_after")


class Refunds:
    """The provider's public interface to refunds, over the ledger of what it really did."""

    def __init__(self, ledger: PaymentLedger, desk: FrontDesk) -> None:
        self._ledger = ledger
        self._desk = desk

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.post(URL, guarded(self._desk, self._create)),
            web.get(URL, guarded(self._desk, self._list)),
            web.get(f"{URL}/{{refund_id}}", guarded(self._desk, self._show)),
        )

    async def _create(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, _CREATION)
        intent_id, noted, wished = required(form, "payment_intent"), metadata(form), text(form, "amount")
        amount = None if wished is None else whole("amount", wished)
        intent = self._ledger.intent(intent_id)
        customer_id = noted.get("customer_id") or (intent.customer_id if intent else None)
        subject = subject_of(request, noted, customer_id, intent_id)

        def refund() -> Answer:
            if intent is None:
                return missing("payment_intent", intent_id, "payment_intent")
            back = intent.refundable if amount is None else amount
            no = why_not(intent, back)
            if no is not None:
                return no
            made = self._ledger.refund(intent, back, subject.key or subject.idempotency_key, noted)
            return json_answer(HTTPStatus.OK, refund_object(made))

        return await self._desk.work_once(request, asked(request, subject, form), refund)

    async def _show(self, request: web.Request) -> web.StreamResponse:
        await read_form(request, ())
        refund_id = request.match_info["refund_id"]
        refund = self._ledger.refund_of_id(refund_id)

        def show() -> Answer:
            if refund is None:
                return missing("refund", refund_id, "id")
            return json_answer(HTTPStatus.OK, refund_object(refund))

        return await self._desk.look_up(request, _subject_of_refund(request, refund_id, refund), show)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        form = await read_form(request, _LISTING)
        intent_id, wish, behind = text(form, "payment_intent"), page_wish(form), text(form, "starting_after")
        intent = None if intent_id is None else self._ledger.intent(intent_id)

        def find() -> Answer:
            after = None if behind is None else self._ledger.refund_of_id(behind)
            if behind is not None and after is None:
                return missing("refund", behind, "starting_after")
            if intent_id is not None and intent is None:
                return missing("payment_intent", intent_id, "payment_intent")
            shown, has_more = page(self._ledger.refunds if intent is None else intent.refunds, wish, after)
            return list_object(URL, [refund_object(refund) for refund in shown], has_more)

        subject = Subject() if intent_id is None else subject_of_intent(request, intent_id, intent)
        return await self._desk.look_up(request, subject, find)


def why_not(intent: PaymentIntent, amount: int) -> Answer | None:
    """Why this much of this payment cannot go back, None if it can."""
    if intent.status is not IntentStatus.SUCCEEDED:
        message = f"This PaymentIntent ({intent.intent_id}) does not have a successful charge to refund."
        return invalid_request(message, "payment_intent")
    if intent.refundable == 0:
        return invalid_request(f"Charge {intent.charge_id} has already been refunded.", code="charge_already_refunded")
    if not 0 < amount <= intent.refundable:
        message = f"Refund amount ({amount}) must be from 1 to the unrefunded amount on charge ({intent.refundable})"
        return invalid_request(message, "amount")
    return None


def _subject_of_refund(request: web.Request, refund_id: str, refund: Refund | None) -> Subject:
    if refund is None:
        return Subject(reference=refund_id)
    customer_id = refund.metadata.get("customer_id", refund.intent.customer_id)
    return subject_of(request, refund.metadata, customer_id, refund_id)
