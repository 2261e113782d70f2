"""What happens at the payment provider without a request of ours: banks settle, people refund by hand."""

from collections.abc import Iterable
from http import HTTPStatus

from aiohttp import web

from entrypoints.sandbox.answers import json_answer, refusal
from entrypoints.sandbox.payment_ledger import PaymentLedger
from entrypoints.sandbox.refunds import why_not
from entrypoints.sandbox.wire import json_object, response


class PaymentControls:
    """Routes for tests and people; no provider has these. All answer the row of the ledger."""

    def __init__(self, ledger: PaymentLedger) -> None:
        self._ledger = ledger

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.post("/_charges/{intent_id}/{ending:succeed|fail}", self._settle_charge),
            web.post("/_charges/{intent_id}/refund", self._refund_by_hand),
            web.post("/_refunds/{refund_id}/{ending:succeed|fail}", self._settle_refund),
        )

    async def _settle_charge(self, request: web.Request) -> web.Response:
        intent_id = request.match_info["intent_id"]
        intent = self._ledger.intent(intent_id)
        if intent is None:
            return response(refusal(HTTPStatus.NOT_FOUND, "unknown_charge", f"no charge {intent_id}"))
        if not intent.settle(succeeded=request.match_info["ending"] == "succeed"):
            return response(refusal(HTTPStatus.CONFLICT, "settled", f"{intent_id} is {intent.status}"))
        return response(json_answer(HTTPStatus.OK, intent.row()))

    async def _settle_refund(self, request: web.Request) -> web.Response:
        refund_id = request.match_info["refund_id"]
        refund = self._ledger.refund_of_id(refund_id)
        if refund is None:
            return response(refusal(HTTPStatus.NOT_FOUND, "unknown_refund", f"no refund {refund_id}"))
        if not refund.settle(succeeded=request.match_info["ending"] == "succeed"):
            return response(refusal(HTTPStatus.CONFLICT, "settled", f"{refund_id} is {refund.status}"))
        return response(json_answer(HTTPStatus.OK, refund.row()))

    async def _refund_by_hand(self, request: web.Request) -> web.Response:
        """In the provider's dashboard: nobody there knows of our keys."""
        intent_id, wish = request.match_info["intent_id"], await json_object(request)
        intent = self._ledger.intent(intent_id)
        if intent is None:
            return response(refusal(HTTPStatus.NOT_FOUND, "unknown_charge", f"no charge {intent_id}"))
        amount = None if wish is None else wish.get("amount")
        if type(amount) is not int:
            return response(refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request", "must be whole", "amount"))
        no = why_not(intent, amount)
        if no is not None:
            return response(no)
        return response(json_answer(HTTPStatus.CREATED, self._ledger.refund(intent, amount, None, {}).row()))
