"""Calls to a provider over HTTP: each ends by its deadline, either answered, or surely not sent, or of unknown fate."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import httpx

from adapters.calls.conversations import Conversations
from adapters.calls.deadline import Deadline
from adapters.calls.loop_thread import KEEP_ALIVE_SECONDS
from adapters.calls.passage import Passage, reply_in_time
from adapters.calls.replies import MAX_BODY_BYTES, NoReply, Reply
from adapters.calls.retry_after import retry_after_seconds

Item = TypeVar("Item")
Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class Call:
    """One request. Shape: `path` is percent-encoded and begins with "/"; `body` is sent byte for byte, as UTF-8."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str | None = None


class _TracedPassage(Passage):
    """How far one request has come, as httpcore tells it."""

    async def note(self, event: str, _: Mapping[str, Any]) -> None:
        # Whatever is not connecting counts as sending, so that an event we do not know errs to the safe side.
        if self.was_sent or event.startswith("connection."):
            return
        self.look_at_the_clock()
        self.note_sending()


class Line:
    """What one conversation with a provider is held over."""

    def __init__(self, calls: "HttpCalls", client: httpx.AsyncClient, deadline: Deadline) -> None:
        self._calls = calls
        self._client = client
        self._deadline = deadline

    async def ask(self, call: Call) -> Reply:
        """One request, at most once, without following redirects.

        Raises: NoReply, for every way in which no whole answer came.
        """
        if not self._calls.base_url:
            raise NoReply("not sent: no address of the provider is configured", was_sent=False)
        passage = _TracedPassage(self._deadline)
        return await reply_in_time(passage, partial(self._exchange, call, passage), connecting=httpx.ConnectError)

    async def _exchange(self, call: Call, passage: _TracedPassage) -> Reply:
        try:
            return await self._stream(call, passage)
        except httpx.LocalProtocolError as failure:
            # Broken rules of ours are noticed before the first byte, whatever httpcore has announced.
            raise NoReply(f"not sent: {type(failure).__name__}", was_sent=False) from failure

    async def _stream(self, call: Call, passage: _TracedPassage) -> Reply:
        body = bytearray()
        async with self._client.stream(
            call.method,
            self._calls.base_url + call.path,
            # Unpacked bodies have no bound, so none may come packed.
            headers={"Accept": "application/json", "Accept-Encoding": "identity", **call.headers},
            content=None if call.body is None else call.body.encode(),
            # The deadline would do, but a TLS handshake that is cut off, not timed out, leaves httpcore's socket open.
            timeout=httpx.Timeout(None, connect=max(self._deadline.left_to_send_seconds(), 0.0)),
            extensions={"trace": passage.note},
        ) as response:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise NoReply(f"{response.status_code} with more than {MAX_BODY_BYTES} bytes", was_sent=True)
        return Reply(
            response.status_code,
            response.headers.get("Content-Type", ""),
            bytes(body),
            self._calls.wait_seconds(response.headers.get_list("Retry-After")),
        )


class HttpCalls:
    """The calls to one provider: sets of them from any thread, on one event loop per process."""

    def __init__(
        self,
        base_url: str | None,
        *,
        deadline_seconds: float,
        max_retry_after_seconds: float,
        in_flight: int,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.base_url = (base_url or "").rstrip("/")
        self._max_retry_after_seconds = max_retry_after_seconds
        self._now = now
        self._conversations = Conversations(
            "http-calls",
            partial(_opened, in_flight),
            httpx.AsyncClient.aclose,
            deadline_seconds=deadline_seconds,
            in_flight=in_flight,
        )

    def wait_seconds(self, retry_after: Sequence[str]) -> float | None:
        """How long these Retry-After headers ask us to wait, None if there is none that can be read."""
        return retry_after_seconds(retry_after, self._now(), self._max_retry_after_seconds) if retry_after else None

    def converse_each(
        self, converse: Callable[[Line, Item], Awaitable[Said]], items: Sequence[Item], began: float | None = None
    ) -> Sequence[Said]:
        """Holds one conversation per item, `in_flight` at a time, all by one deadline, counted from `began` (or now).

        Whoever's turn does not come in time finds a line on which nothing can be sent any more.
        Returns: what each came to, in the order of the items.
        """

        async def converse_one(client: httpx.AsyncClient, deadline: Deadline, item: Item) -> Said:
            return await converse(Line(self, client, deadline), item)

        return self._conversations.hold_each(converse_one, items, began)

    def close(self) -> None:
        """Ends this process's loop; calls still under way are cut off."""
        self._conversations.close()


async def _opened(in_flight: int) -> httpx.AsyncClient:
    # httpx's default transport, not httpx-aiohttp: that one reports a server that hung up after reading our request
    # as a connection that failed, which would count as surely not sent.
    return httpx.AsyncClient(
        timeout=None,  # httpx's are per operation: a dripping body outlasts them
        follow_redirects=False,
        trust_env=False,
        limits=httpx.Limits(
            max_connections=None,  # turns are the limit; a second queue would only wait unseen
            max_keepalive_connections=in_flight,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
        ),
    )
