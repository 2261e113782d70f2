"""`/v1/events`: order events in. What a 2xx counts as accepted or as duplicate is committed."""

from collections.abc import Sequence
from dataclasses import asdict
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel

from application.orders import BATCH_EVENTS, AcceptOrderEvents, Receipt
from domain.errors import Malformed
from domain.strict_json import read_json
from entrypoints.api.body import media_type, whole_body
from entrypoints.api.event_schema import EVENT_SCHEMA
from entrypoints.api.gate import needs
from entrypoints.api.keys import Scope
from entrypoints.api.problems import Problem, documented
from entrypoints.api.threads import UseCaseThreads

ONE_EVENT: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"
MAX_EVENTS: Final = 10_000  # per request: what one transaction set after the other stores within a sender's patience

_BODIES: Final = {
    ONE_EVENT: {"schema": EVENT_SCHEMA},
    BATCH: {"schema": {"type": "array", "items": EVENT_SCHEMA, "minItems": 1, "maxItems": MAX_EVENTS}},
}


class ConflictDocument(BaseModel):
    """An event whose source and id are known with other content; the first stays, this one is kept beside it."""

    id: str
    reason: str


class RejectionDocument(BaseModel):
    """An event that was not stored. `index` is its place in the request, from 0."""

    index: int
    field: str
    reason: str


class ReceiptDocument(BaseModel):
    """What became of the events of one request."""

    accepted: int
    duplicates: int
    conflicts: list[ConflictDocument]
    rejected: list[RejectionDocument]


def routes(accept: AcceptOrderEvents, threads: UseCaseThreads, *, body_seconds: float) -> APIRouter:
    """Taking order events in."""
    router = APIRouter(tags=["events"])

    @router.post(
        "/v1/events",
        status_code=HTTPStatus.ACCEPTED,
        dependencies=needs(Scope.EVENTS),
        responses=documented(
            HTTPStatus.BAD_REQUEST,
            HTTPStatus.REQUEST_TIMEOUT,
            HTTPStatus.CONFLICT,
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            HTTPStatus.UNPROCESSABLE_ENTITY,
            HTTPStatus.SERVICE_UNAVAILABLE,
        ),
        openapi_extra={"requestBody": {"required": True, "content": _BODIES}},
    )
    async def accept_events(request: Request) -> ReceiptDocument:
        """Stores order events (CloudEvents 1.0), each once; of a batch the valid part.

        400: no such document. 422: a document of which no event is valid. 409: one event, known with other content.
        """
        kind = media_type(request, (ONE_EVENT, BATCH))
        body = await whole_body(request, limit_seconds=body_seconds)
        return await threads.run(lambda: _document(_accept(accept, _envelopes(body, kind)), kind))

    return router


def _envelopes(body: bytes, kind: str) -> Sequence[Any]:
    """The events of a body, each still unchecked. Raises: Problem for what is not a document of its kind."""
    try:
        document = read_json(body)
        if kind == ONE_EVENT:
            if not isinstance(document, dict):
                raise Malformed("body", f"must be one object; an array goes as {BATCH}")
            return [document]
        if not isinstance(document, list) or not document:
            raise Malformed("body", "must be an array of at least one event")
    except Malformed as wrong:
        raise Problem(HTTPStatus.BAD_REQUEST, wrong.reason, field=wrong.field) from None
    if len(document) > MAX_EVENTS:
        detail = f"has {len(document)} events, may have {MAX_EVENTS}; send several requests"
        raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, field="body")
    return document


def _accept(accept: AcceptOrderEvents, envelopes: Sequence[Any]) -> Receipt:
    receipt = Receipt()
    for first in range(0, len(envelopes), BATCH_EVENTS):
        # Each set is a transaction. If a later one finds the database gone, the whole request is answered by 503:
        # the sender repeats it, and what had been stored by then is duplicates.
        receipt.add(accept.execute(envelopes[first : first + BATCH_EVENTS], first_index=first))
    return receipt


def _document(receipt: Receipt, kind: str) -> ReceiptDocument:
    """The answer for what was stored. Raises: Problem when nothing was."""
    conflicts = [{"id": conflict.id, "reason": conflict.reason} for conflict in receipt.conflicts]
    rejected = [asdict(rejection) for rejection in receipt.rejected]
    if not receipt.accepted and not receipt.duplicates:
        if len(conflicts) == 1 and not rejected:
            raise Problem(HTTPStatus.CONFLICT, receipt.conflicts[0].reason, field="id", conflicts=conflicts)
        if kind == ONE_EVENT:
            wrong = receipt.rejected[0]
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, wrong.reason, field=wrong.field)
        if not conflicts:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "no event of the batch is valid", rejected=rejected)
    return ReceiptDocument.model_validate(
        {
            "accepted": receipt.accepted,
            "duplicates": receipt.duplicates,
            "conflicts": conflicts,
            "rejected": rejected,
        }
    )
