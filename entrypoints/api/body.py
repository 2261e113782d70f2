"""The body of a request as bytes: bounded in size and time, and of a kind that we read."""

from collections.abc import Sequence
from email.message import Message
from http import HTTPStatus
from typing import Final

import anyio
from starlette.requests import Request

from entrypoints.api.problems import Problem

MAX_BODY_BYTES: Final = 32 * 1024 * 1024  # 10,000 events of 3 KB; a full address takes 1 KB
_CHARSETS: Final = ("utf-8", "utf8", "us-ascii")  # RFC 8259: JSON that travels is UTF-8


def media_type(request: Request, accepted: Sequence[str]) -> str:
    """Which of the accepted types the body has. Raises: Problem (415) for another one, or one that is packed."""
    header = Message()
    header["Content-Type"] = request.headers.get("content-type", "")
    given = header.get_content_type()
    fits = given in accepted and header.get_content_charset("utf-8") in _CHARSETS
    if not fits or request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"the body must be {' or '.join(accepted)} in UTF-8, not compressed",
            headers={"Accept": ", ".join(accepted), "Accept-Encoding": "identity"},
            field="Content-Type",
        )
    return given


async def whole_body(request: Request, *, limit_seconds: float, limit_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The body as it came. Raises: Problem (413, 408) as soon as it is too large or takes too long."""
    # A number it is: the server has refused everything else.
    if int(request.headers.get("content-length", 0)) > limit_bytes:
        raise _too_large(limit_bytes)
    body = bytearray()
    try:
        with anyio.fail_after(limit_seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit_bytes:
                    raise _too_large(limit_bytes)
    except TimeoutError:
        detail = f"the body did not come whole within {limit_seconds:g} s"
        raise Problem(HTTPStatus.REQUEST_TIMEOUT, detail, field="body") from None
    return bytes(body)


def _too_large(limit_bytes: int) -> Problem:
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"must have at most {limit_bytes} bytes", field="body")
