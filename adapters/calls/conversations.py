"""Sets of conversations with another machine: many at a time, from any thread, all by one deadline."""

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import anyio

from adapters.calls.deadline import Deadline
from adapters.calls.loop_thread import LoopThread

Client = TypeVar("Client")
Item = TypeVar("Item")
Said = TypeVar("Said")


@dataclass(frozen=True, slots=True)
class Switchboard(Generic[Client]):
    """What calls on one event loop share: the connections, and a turn on them for a few at a time."""

    client: Client
    turns: anyio.Semaphore


class Conversations(Generic[Client]):
    """Holds conversations on one event loop per process.

    The loop starts with the first of them, so that a process may fork before; its child starts its own.
    Units: seconds; `in_flight` conversations are held at a time.
    """

    def __init__(
        self,
        name: str,
        opening: Callable[[], Coroutine[Any, Any, Client]],
        closing: Callable[[Client], Awaitable[None]],
        *,
        deadline_seconds: float,
        in_flight: int,
    ) -> None:
        self._name = name
        self._opening = opening
        self._closing = closing
        self._deadline_seconds = deadline_seconds
        self._in_flight = in_flight
        self._loops: dict[int, LoopThread[Switchboard[Client]]] = {}

    def hold_each(
        self,
        converse: Callable[[Client, Deadline, Item], Awaitable[Said]],
        items: Sequence[Item],
        began: float | None = None,
    ) -> Sequence[Said]:
        """Holds one conversation per item by one deadline, counted from `began` (or now).

        Whoever's turn does not come in time begins when the deadline is over, and must send nothing.
        Returns: what each came to, in the order of the items.
        """
        deadline = Deadline(self._deadline_seconds, time.monotonic() if began is None else began)
        if not items:
            return []
        loop = self._loops.setdefault(os.getpid(), LoopThread(self._name, self._open, self._close))
        return loop.run(partial(_hold_each, converse, items, deadline))

    def close(self) -> None:
        """Ends this process's loop; calls still under way are cut off."""
        loop = self._loops.get(os.getpid())
        if loop is not None:
            loop.close()

    async def _open(self) -> Switchboard[Client]:
        return Switchboard(await self._opening(), anyio.Semaphore(self._in_flight))

    async def _close(self, switchboard: Switchboard[Client]) -> None:
        await self._closing(switchboard.client)


async def _hold_each(
    converse: Callable[[Client, Deadline, Item], Awaitable[Said]],
    items: Sequence[Item],
    deadline: Deadline,
    switchboard: Switchboard[Client],
) -> Sequence[Said]:
    said: dict[int, Said] = {}

    async def converse_one(position: int, item: Item) -> None:
        async with _turn(switchboard.turns, deadline):
            said[position] = await converse(switchboard.client, deadline, item)

    async with anyio.create_task_group() as conversations:
        for position, item in enumerate(items):
            conversations.start_soon(converse_one, position, item)
    return [said[position] for position in range(len(items))]


@asynccontextmanager
async def _turn(turns: anyio.Semaphore, deadline: Deadline) -> AsyncIterator[None]:
    with anyio.move_on_after(deadline.left_seconds()) as waiting:
        await turns.acquire()
    try:
        yield
    finally:
        if not waiting.cancelled_caught:
            turns.release()
