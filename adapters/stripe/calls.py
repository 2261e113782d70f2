"""Calls to Stripe: each ends by its deadline, either answered, or surely not sent, or of unknown fate."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import aiohttp
import stripe

from adapters.calls.conversations import Conversations
from adapters.calls.deadline import Deadline
from adapters.calls.passage import Passage, reply_in_time
from adapters.calls.replies import NoReply, Reply
from adapters.calls.retry_after import retry_after_seconds
from adapters.stripe.answers import page_of
from adapters.stripe.transport import UNDER_WAY, AnsweredWhole, OneSendTransport

Item = TypeVar("Item")
Said = TypeVar("Said")

# Pinned, so that a newer SDK cannot change what a frozen request means; and the last family of versions in which
# `payment_method_types` may be written. Source: docs.stripe.com/changelog, 2026-09-30.endive
API_VERSION: Final = "2026-07-29.dahlia"

# How something is asked of Stripe: one call of its SDK.
Request = Callable[[stripe.StripeClient], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class _Door:
    stripe: stripe.StripeClient
    transport: OneSendTransport


class Line:
    """What one conversation with Stripe is held over."""

    def __init__(self, door: _Door, deadline: Deadline, obstacle: str) -> None:
        self._door = door
        self._deadline = deadline
        self._obstacle = obstacle

    async def ask(self, request: Request) -> Reply:
        """One request, at most once.

        The SDK knows how to ask. What it makes of the answer is not used, since its objects believe whatever comes.
        Raises: NoReply, for every way in which no whole answer came.
        """
        if self._obstacle:
            raise NoReply(self._obstacle, was_sent=False)
        passage = Passage(self._deadline)
        UNDER_WAY.set(passage)

        async def exchange() -> Reply:
            try:
                await request(self._door.stripe)
            except AnsweredWhole as answered:
                return answered.reply
            raise AssertionError("the transport ends the SDK's part of every request")

        return await reply_in_time(passage, exchange, connecting=aiohttp.ClientConnectorError)


class StripeCalls:
    """The calls to Stripe: sets of them from any thread, on one event loop per process."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str,
        *,
        deadline_seconds: float,
        max_retry_after_seconds: float,
        in_flight: int,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._base_url = (base_url or "").rstrip("/")
        self._api_key = api_key
        self._max_retry_after_seconds = max_retry_after_seconds
        self._now = now
        self._conversations = Conversations(
            "stripe-calls", self._open, _close, deadline_seconds=deadline_seconds, in_flight=in_flight
        )

    def converse_each(
        self, converse: Callable[[Line, Item], Awaitable[Said]], items: Sequence[Item], began: float | None = None
    ) -> Sequence[Said]:
        """Holds one conversation per item, `in_flight` at a time, all by one deadline, counted from `began` (or now).

        Whoever's turn does not come in time finds a line on which nothing can be sent any more.
        Returns: what each came to, in the order of the items.
        """
        obstacle = _obstacle(self._api_key)

        async def converse_one(door: _Door, deadline: Deadline, item: Item) -> Said:
            return await converse(Line(door, deadline, obstacle), item)

        return self._conversations.hold_each(converse_one, items, began)

    def close(self) -> None:
        """Ends this process's loop; calls still under way are cut off."""
        self._conversations.close()

    async def _open(self) -> _Door:
        stripe.enable_telemetry = False  # the SDK knows this switch for the whole process only
        transport = OneSendTransport(self._wait_seconds)
        client = stripe.StripeClient(
            self._api_key,
            stripe_version=API_VERSION,
            base_addresses={"api": self._base_url} if self._base_url else None,
            max_network_retries=0,
            http_client=transport,
        )
        return _Door(client, transport)

    def _wait_seconds(self, retry_after: Sequence[str]) -> float | None:
        # The clock may be the database's: it is asked only where there is something to read.
        return retry_after_seconds(retry_after, self._now(), self._max_retry_after_seconds) if retry_after else None


async def _close(door: _Door) -> None:
    await door.transport.close_async()


def _obstacle(api_key: str) -> str:
    """Why nothing can be asked with this key, empty if something can."""
    if not api_key:
        return "no key of the payment provider is configured"
    # A key read with its line's end is a usual mistake; it must be noticed before anything counts as sent.
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        return "the key of the payment provider has characters that no key has"
    return ""


async def read_list(
    line: Line,
    page_after: Callable[[str | None], Request],
    read_page: Callable[[Sequence[Mapping[str, Any]]], bool],
) -> None:
    """Reads a list at the provider, the newest first, page after page, until `read_page` has had enough.

    Raises: NoReply, NotBelieved where it cannot be read on.
    """
    last: str | None = None
    while True:
        objects, has_more = page_of(await line.ask(page_after(last)))
        if read_page(objects) or not has_more:
            return
        last = objects[-1]["id"]
