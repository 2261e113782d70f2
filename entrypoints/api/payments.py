"""`/webhooks/stripe`: what the payment provider tells by itself, signed."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from pydantic import BaseModel

from application.payments import TakeNotice
from domain.errors import Refused
from domain.payments import Notice
from entrypoints.api.body import whole_body
from entrypoints.api.problems import Problem, documented, unavailable
from entrypoints.api.threads import UseCaseThreads

MAX_NOTICE_BYTES: Final = 1024 * 1024  # one event is a few kilobytes, and anybody may send here

ReadNotice = Callable[[bytes, str | None], Notice | None]


class HeardDocument(BaseModel):
    """Whether the notice was about anything of ours."""

    heard: bool


def routes(read: ReadNotice | None, take: TakeNotice, threads: UseCaseThreads, *, body_seconds: float) -> APIRouter:
    """Taking notices in; without a way to check who signed them, none is."""
    router = APIRouter(tags=["payments"])

    @router.post(
        "/webhooks/stripe",
        responses=documented(
            HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.SERVICE_UNAVAILABLE
        ),
    )
    async def take_notice(request: Request) -> HeardDocument:
        """Takes one signed event in. A repeat, or one that comes late, changes nothing; 2xx means committed."""
        if read is None:
            raise unavailable("IKKAI_STRIPE_WEBHOOK_SECRET is not set, so nothing can be believed")
        body = await whole_body(request, limit_seconds=body_seconds, limit_bytes=MAX_NOTICE_BYTES)
        signature = request.headers.get("stripe-signature")
        return HeardDocument(heard=await threads.run(lambda: _heard(read, take, body, signature)))

    return router


def _heard(read: ReadNotice, take: TakeNotice, body: bytes, signature: str | None) -> bool:
    try:
        notice = read(body, signature)
    except Refused as wrong:
        raise Problem(HTTPStatus.BAD_REQUEST, wrong.reason, field=wrong.field) from None
    return notice is not None and take.execute(notice)
