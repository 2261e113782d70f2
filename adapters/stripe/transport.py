"""The transport below Stripe's SDK: it sends once, and knows how far each request has come."""

import ssl
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import stripe

from adapters.calls.loop_thread import KEEP_ALIVE_SECONDS
from adapters.calls.passage import Passage
from adapters.calls.replies import NoReply, Reply

MAX_BODY_BYTES: Final = 8 << 20  # a page of a hundred charges, each with as much metadata as may be, has some 4 MB


class AnsweredWhole(Exception):
    """Carries the reply and ends the SDK's part, since nobody wants the objects that it would make of it."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


# The SDK hands nothing of ours down to its transport, so each task says by this whose request it makes.
UNDER_WAY: Final[ContextVar[Passage]] = ContextVar("UNDER_WAY")


class OneSendTransport(stripe.HTTPClient):
    """Sends what the SDK asks for at most once, without retries, redirects, proxies, cookies or telemetry.

    Not the SDK's own client on aiohttp: every failure looks the same there, whether anything was sent or not.
    """

    name = "aiohttp"

    def __init__(self, wait_seconds: Callable[[Sequence[str]], float | None]) -> None:
        super().__init__()
        self._wait_seconds = wait_seconds
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # turns are the limit; a second queue would only wait unseen
                keepalive_timeout=KEEP_ALIVE_SECONDS,
                ssl=ssl.create_default_context(cafile=stripe.ca_bundle_path),
            ),
            timeout=aiohttp.ClientTimeout(total=None),  # whoever asks cuts off, by one deadline
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # unpacked bodies have no bound
            trust_env=False,
            trace_configs=[_tracing()],
        )

    async def request_with_retries_async(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        post_data: Any = None,
        max_network_retries: int | None = None,
        *,
        _usage: list[str] | None = None,
    ) -> tuple[bytes, int, Mapping[str, str]]:
        """One request, in spite of the name. (Of itself, aiohttp repeats only reads, on a connection that broke.)

        Raises: AnsweredWhole; NoReply where too little time is left or the answer is too long; whatever aiohttp raises.
        """
        passage = UNDER_WAY.get()
        passage.look_at_the_clock()
        async with self._session.request(
            method,
            url,
            headers={**headers, "Accept": "application/json", "Accept-Encoding": "identity"},
            data=post_data,
            allow_redirects=False,
            trace_request_ctx=passage,
        ) as response:
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise NoReply(f"{response.status} with more than {MAX_BODY_BYTES} bytes", was_sent=True)
        raise AnsweredWhole(
            Reply(
                response.status,
                response.headers.get("Content-Type", ""),
                bytes(body),
                self._wait_seconds(response.headers.getall("Retry-After", [])),
                response.headers.get("Idempotent-Replayed", "").lower() == "true",
            )
        )

    async def close_async(self) -> None:
        """Gives up all connections."""
        await self._session.close()


def _tracing() -> aiohttp.TraceConfig:
    async def connected(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.note_sending()

    async def before_first_byte(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.look_at_the_clock()

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_create_end.append(connected)
    tracing.on_connection_reuseconn.append(connected)
    tracing.on_request_headers_sent.append(before_first_byte)  # in spite of its name, it comes before they are written
    return tracing
