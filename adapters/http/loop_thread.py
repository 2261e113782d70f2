"""One process's event loop with its connections; nothing of it outlives a fork."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import anyio
import httpx

Said = TypeVar("Said")

# A request that meets a connection the server has just given up is of unknown fate, so idle ones are given up first:
# common servers keep them for 2 s (gunicorn) or 5 s (Apache, Node, uvicorn).
KEEP_ALIVE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Switchboard:
    """What calls on one event loop share: the connections, and a turn on them for a few at a time."""

    client: httpx.AsyncClient
    turns: anyio.Semaphore


class LoopThread:
    """Runs asynchronous work for the threads of a process, on a thread of its own that starts with the first work.

    Not anyio's blocking portal: one that nobody closed hangs the end of its process, and that of every fork of it.
    """

    def __init__(self, in_flight: int) -> None:
        self._in_flight = in_flight
        self._lock = threading.Lock()  # who submits work and who ends the loop keep out of each other's way
        self._open: tuple[asyncio.AbstractEventLoop, threading.Thread, Switchboard] | None = None

    def run(self, work: Callable[[Switchboard], Coroutine[Any, Any, Said]]) -> Said:
        """Waits for the end of `work`."""
        with self._lock:
            if self._open is None:
                self._open = _opened(self._in_flight)
            loop, _, switchboard = self._open
            running = asyncio.run_coroutine_threadsafe(work(switchboard), loop)
        return running.result()

    def close(self) -> None:
        """Ends the loop; calls under way are cut off, and end as broken ones do."""
        with self._lock:
            if self._open is None:
                return
            loop, thread, switchboard = self._open
            self._open = None
            asyncio.run_coroutine_threadsafe(_end(switchboard), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


def _opened(in_flight: int) -> tuple[asyncio.AbstractEventLoop, threading.Thread, Switchboard]:
    # httpx's default transport, not httpx-aiohttp: that one reports a server that hung up after reading our request
    # as a connection that failed, which would count as surely not sent.
    client = httpx.AsyncClient(
        timeout=None,  # httpx's are per operation: a dripping body outlasts them
        follow_redirects=False,
        trust_env=False,
        limits=httpx.Limits(
            max_connections=None,  # turns are the limit; a second queue would only wait unseen
            max_keepalive_connections=in_flight,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
        ),
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="http-calls", daemon=True)
    thread.start()
    return loop, thread, Switchboard(client, anyio.Semaphore(in_flight))


async def _end(switchboard: Switchboard) -> None:
    await switchboard.client.aclose()
    under_way = asyncio.all_tasks() - {asyncio.current_task()}
    if under_way:
        await asyncio.wait(under_way)
