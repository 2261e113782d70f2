"""Calls to a provider over HTTP: each ends by its deadline, either answered, or surely not sent, or of unknown fate."""

import codecs
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeVar

import anyio
import httpx

from adapters.http.loop_thread import LoopThread, Switchboard
from adapters.http.retry_after import retry_after_seconds
from domain.errors import Malformed
from domain.strict_json import read_json

Item = TypeVar("Item")
Said = TypeVar("Said")

MAX_BODY_BYTES: Final = 1 << 20  # an answer about one parcel has some hundred bytes; more is no answer to us
# What is sent with less of its deadline left would seldom be answered in time, and unknown is worse than not sent.
LEAST_SHARE_TO_SEND: Final = 0.1


@dataclass(frozen=True, slots=True)
class Call:
    """One request. Shape: `path` is percent-encoded and begins with "/"; `body` is sent byte for byte, as UTF-8."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer that arrived whole; nothing of it is believed yet."""

    status: int
    content_type: str
    body: bytes
    retry_after_seconds: float | None = None

    def content(self) -> Mapping[str, Any] | None:
        """The JSON object it says it carries, None if it does not.

        A byte order mark is not JSON (RFC 8259, 8.1): it tells that something between us rewrote the answer.
        """
        media_type = self.content_type.partition(";")[0].strip().lower()
        is_json = re.fullmatch(r"application/([\w.-]+\+)?json", media_type, re.ASCII)
        if is_json is None or self.body.startswith(codecs.BOM_UTF8):
            return None
        try:
            content = read_json(self.body)
        except Malformed:
            return None
        return content if isinstance(content, dict) else None

    def glimpse(self) -> str:
        """Status, type and body, for people who ask why it was not believed; whoever shows it cuts and cleans it."""
        return f"{self.status} {self.content_type or 'of no type'}: {self.body.decode(errors='replace')}"


class NoReply(Exception):
    """No whole answer. `was_sent` is false only where surely no byte of the request left us."""

    def __init__(self, reason: str, *, was_sent: bool) -> None:
        super().__init__(reason)
        self.was_sent = was_sent


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of everything that is said in one set of calls, waiting for one's turn included. Units: seconds."""

    seconds: float
    began: float

    def left_seconds(self) -> float:
        return self.began + self.seconds - time.monotonic()

    def left_to_send_seconds(self) -> float:
        return self.left_seconds() - self.seconds * LEAST_SHARE_TO_SEND


class _Passage:
    """How far one request has come, as httpcore tells it: connected only, or perhaps on its way."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._is_connected = False
        self.was_sent = False

    async def note(self, event: str, _: Mapping[str, Any]) -> None:
        # Whatever is not connecting counts as sending, so that an event we do not know errs to the safe side.
        if self._is_connected or event.startswith("connection."):
            return
        self._is_connected = True
        # The last look at the clock before the first byte: this process may have been frozen while it connected.
        if self._deadline.left_to_send_seconds() < 0:
            raise NoReply("not sent: too little time was left", was_sent=False)
        self.was_sent = True


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
        passage = _Passage(self._deadline)
        with anyio.move_on_after(self._deadline.left_seconds()):
            try:
                return await self._exchange(call, passage)
            except NoReply:
                raise
            except Exception as failure:  # any, since the other calls of the set must keep their answers
                # Broken rules of ours are noticed before the first byte, whatever httpcore has announced.
                was_sent = passage.was_sent and not isinstance(failure, httpx.LocalProtocolError)
                raise NoReply(_named(failure, was_sent=was_sent), was_sent=was_sent) from failure
        if passage.was_sent:
            raise NoReply(f"no whole answer within {self._deadline.seconds:g} s", was_sent=True)
        raise NoReply(f"not sent within {self._deadline.seconds:g} s", was_sent=False)

    async def _exchange(self, call: Call, passage: _Passage) -> Reply:
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


def _named(failure: Exception, *, was_sent: bool) -> str:
    # Only of what happens while connecting the text is shown: others quote headers, and those hold our secrets.
    text = f"{type(failure).__name__}: {failure}" if isinstance(failure, httpx.ConnectError) else type(failure).__name__
    return f"no answer: {text}" if was_sent else f"not sent: {text}"


class HttpCalls:
    """The calls to one provider: sets of them from any thread, on one event loop per process.

    The loop starts with the first call, so that a process may fork before; its child starts its own.
    """

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
        self._deadline_seconds = deadline_seconds
        self._in_flight = in_flight
        self._loops: dict[int, LoopThread] = {}

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
        deadline = Deadline(self._deadline_seconds, time.monotonic() if began is None else began)
        if not items:
            return []
        loop = self._loops.setdefault(os.getpid(), LoopThread(self._in_flight))
        return loop.run(partial(self._converse_each, converse, items, deadline))

    async def _converse_each(
        self,
        converse: Callable[[Line, Item], Awaitable[Said]],
        items: Sequence[Item],
        deadline: Deadline,
        switchboard: Switchboard,
    ) -> Sequence[Said]:
        said: dict[int, Said] = {}

        async def converse_one(position: int, item: Item) -> None:
            async with _turn(switchboard.turns, deadline):
                said[position] = await converse(Line(self, switchboard.client, deadline), item)

        async with anyio.create_task_group() as conversations:
            for position, item in enumerate(items):
                conversations.start_soon(converse_one, position, item)
        return [said[position] for position in range(len(items))]

    def close(self) -> None:
        """Ends this process's loop; calls still under way are cut off."""
        loop = self._loops.get(os.getpid())
        if loop is not None:
            loop.close()


@asynccontextmanager
async def _turn(turns: anyio.Semaphore, deadline: Deadline) -> AsyncIterator[None]:
    with anyio.move_on_after(deadline.left_seconds()) as waiting:
        await turns.acquire()
    try:
        yield
    finally:
        if not waiting.cancelled_caught:
            turns.release()
