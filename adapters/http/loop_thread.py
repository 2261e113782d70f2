"""One process's event loop with its connections; nothing of it outlives a fork."""

import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Final, TypeVar

import anyio
import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal

Said = TypeVar("Said")

# A request that meets a connection the server has just given up is of unknown fate, so idle ones are given up first:
# common servers keep them for 2 s (gunicorn) or 5 s (Apache, Node, uvicorn).
KEEP_ALIVE_SECONDS: Final = 1.0


class LoopThread:
    """Runs asynchronous work for the threads of a process, on a thread of its own that starts with the first work.

    httpx's default transport, not httpx-aiohttp: that one reports a server that hung up after reading our request as
    a failed connection, which would count as surely not sent.
    """

    def __init__(self, in_flight: int) -> None:
        self._in_flight = in_flight
        self._turns = anyio.Semaphore(in_flight)
        self._lock = threading.Lock()
        self._open: tuple[BlockingPortal, httpx.AsyncClient] | None = None
        self._exits = ExitStack()

    def run(self, work: Callable[[httpx.AsyncClient, anyio.Semaphore], Awaitable[Said]]) -> Said:
        """Waits for the end of `work`, which is given the connections and the turns on them."""
        portal, client = self._opened()
        return portal.call(work, client, self._turns)

    def close(self) -> None:
        """Ends the loop; what still runs on it is cut off."""
        with self._lock:
            self._open = None
            self._exits.close()

    def _opened(self) -> tuple[BlockingPortal, httpx.AsyncClient]:
        with self._lock:
            if self._open is None:
                client = httpx.AsyncClient(
                    timeout=None,  # httpx's are per operation: a dripping body outlasts them
                    follow_redirects=False,
                    trust_env=False,
                    limits=httpx.Limits(
                        max_connections=None,  # turns are the limit; a second queue would only wait unseen
                        max_keepalive_connections=self._in_flight,
                        keepalive_expiry=KEEP_ALIVE_SECONDS,
                    ),
                )
                portal = self._exits.enter_context(start_blocking_portal(name="http-calls"))
                self._exits.enter_context(portal.wrap_async_context_manager(client))
                self._open = portal, client
            return self._open
