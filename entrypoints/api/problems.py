"""Everything that is not a success, as `application/problem+json` (RFC 9457)."""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from domain.errors import Unavailable

logger = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 5  # about what a database needs to start again

_SCHEMA: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"const": "about:blank"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": "string", "description": "The part of the request that is wrong."},
    },
}


class Problem(Exception):
    """An answer that is not a success; `members` stand in the document beside those of RFC 9457."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **members: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.members = members

    def response(self) -> Response:
        document = {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": self.status,
            "detail": self.detail,
            **self.members,
        }
        # A member of the request may be quoted here, and a lone surrogate in it has no UTF-8.
        content = json.dumps(document, ensure_ascii=False).encode("utf-8", errors="replace")
        return Response(content, self.status, self.headers, MEDIA_TYPE)


def unavailable(detail: str) -> Problem:
    """Try the same again later."""
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def documented(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """How a route's problems stand in the OpenAPI document; those of authorization every route has."""
    content = {MEDIA_TYPE: {"schema": _SCHEMA}}
    every = (*statuses, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
    named: dict[int | str, dict[str, Any]] = {
        int(status): {"description": status.phrase, "content": content} for status in every
    }
    # Also keeps FastAPI from promising a shape of its own for what it validates.
    return {**named, "default": {"description": "Any other failure", "content": content}}


def answer_with_problems(app: FastAPI) -> None:
    """Has every failure of `app` answered as a problem, those of routing and our own faults included."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(HTTPException, _of_routing)
    app.add_exception_handler(Unavailable, _unavailable)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _own_fault)


async def _problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return problem.response()


async def _of_routing(_: Request, failure: Exception) -> Response:
    assert isinstance(failure, HTTPException)
    return Problem(HTTPStatus(failure.status_code), failure.detail, headers=failure.headers).response()


async def _unavailable(_: Request, failure: Exception) -> Response:
    # Its words name hosts and accounts: they are for our log.
    logger.warning("a request could not be served: %s", failure)
    return unavailable("the database cannot be reached; send the same again").response()


async def _gone(_: Request, __: Exception) -> Response:
    """Nobody is left who could read it."""
    return Problem(HTTPStatus.BAD_REQUEST, "the connection ended before the whole request had come").response()


async def _own_fault(_: Request, __: Exception) -> Response:
    """Starlette raises the exception once more after this answer, and the server logs it."""
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "the fault is ours; it has been logged").response()
