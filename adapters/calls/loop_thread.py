"""One process's event loop with what is open on it; nothing of it outlives a fork."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

Opened = TypeVar("Opened")
Said = TypeVar("Said")

# A request that meets a connection the server has just given up is of unknown fate, so idle ones are given up first:
# common servers keep them for 2 s (gunicorn) or 5 s (Apache, Node, uvicorn).
KEEP_ALIVE_SECONDS: Final = 1.0


class LoopThread(Generic[Opened]):
    """Runs asynchronous work for the threads of a process, on a thread of its own that starts with the first work.

    `opening` opens, on the loop, what all work shares; `closing` closes it, so that calls under way end as broken ones.
    Not anyio's blocking portal: one that nobody closed hangs the end of its process, and that of every fork of it.
    """

    def __init__(
        self,
        name: str,
        opening: Callable[[], Coroutine[Any, Any, Opened]],
        closing: Callable[[Opened], Awaitable[None]],
    ) -> None:
        self._name = name
        self._opening = opening
        self._closing = closing
        self._lock = threading.Lock()  # who submits work and who ends the loop keep out of each other's way
        self._open: tuple[asyncio.AbstractEventLoop, threading.Thread, Opened] | None = None

    def run(self, work: Callable[[Opened], Coroutine[Any, Any, Said]]) -> Said:
        """Waits for the end of `work`."""
        with self._lock:
            if self._open is None:
                self._open = self._opened()
            loop, _, opened = self._open
            running = asyncio.run_coroutine_threadsafe(work(opened), loop)
        return running.result()

    def close(self) -> None:
        """Ends the loop; calls under way are cut off, and end as broken ones do."""
        with self._lock:
            if self._open is None:
                return
            loop, thread, opened = self._open
            self._open = None
            asyncio.run_coroutine_threadsafe(self._end(opened), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def _opened(self) -> tuple[asyncio.AbstractEventLoop, threading.Thread, Opened]:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name=self._name, daemon=True)
        thread.start()
        return loop, thread, asyncio.run_coroutine_threadsafe(self._opening(), loop).result()

    async def _end(self, opened: Opened) -> None:
        await self._closing(opened)
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        if under_way:
            await asyncio.wait(under_way)
