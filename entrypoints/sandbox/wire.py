"""How a request is read and an answer leaves: whole, one byte at a time, or not at all."""

import asyncio
import json
import socket
import struct
from typing import Any, Final

from aiohttp import web

from entrypoints.sandbox.answers import Answer
from entrypoints.sandbox.faults import Delivery

MAX_SILENCE_SECONDS: Final = 120  # longer than any client of ours waits
DRIP_SECONDS: Final = 0.5  # shorter than any time-out per read, so only a deadline for the whole call ends it
_LOOK_SECONDS: Final = 0.1  # how often a silent connection is looked at; asyncio tells a handler nothing of a hang-up
_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: the kernel sends RST in place of FIN


async def json_object(request: web.Request) -> dict[str, Any] | None:
    """The body if it is one JSON object, else None."""
    try:
        content = json.loads(await request.read())
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def response(answer: Answer) -> web.Response:
    """The answer as aiohttp sends it."""
    sent = web.Response(status=answer.status, body=answer.body)
    sent.headers["Content-Type"] = answer.content_type
    for name, value in answer.headers:
        sent.headers.add(name, value)
    return sent


async def deliver(request: web.Request, answer: Answer | None, delivery: Delivery) -> web.StreamResponse:
    """Sends the answer, or breaks the connection in the scripted way and sends nothing."""
    if answer is not None and delivery is Delivery.WHOLE:
        return response(answer)
    if answer is not None and delivery is Delivery.DRIP:
        return await _drip(request, answer)
    if delivery is Delivery.SILENCE:
        await _keep_silent(request)
    if request.transport is not None:
        if delivery is Delivery.RESET:
            request.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            request.transport.abort()
        request.transport.close()
    return web.Response()  # aiohttp wants one; with the connection closed no byte of it goes out


async def _drip(request: web.Request, answer: Answer) -> web.StreamResponse:
    dripping = web.StreamResponse(status=answer.status)
    dripping.content_type = answer.content_type
    dripping.content_length = len(answer.body)
    await dripping.prepare(request)
    for position in range(len(answer.body)):
        await dripping.write(answer.body[position : position + 1])
        await asyncio.sleep(DRIP_SECONDS)
    await dripping.write_eof()
    return dripping


async def _keep_silent(request: web.Request) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + MAX_SILENCE_SECONDS
    while request.transport is not None and not request.transport.is_closing() and loop.time() < end:
        await asyncio.sleep(_LOOK_SECONDS)
