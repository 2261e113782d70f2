"""Doorbells that stand for many rows: each drains one kind of due work for a while."""

import threading
import time
from collections.abc import Callable
from typing import Final

# A drain ends by itself, so that a stopping worker need not wait for it; what is left is rung for again.
DRAIN_SECONDS: Final = 5.0


class Drain:
    """Works off one kind of due work until none is left; at most `at_once` threads of this process do so together.

    A doorbell beyond that has nothing to add, and must not take the thread that another context needs.
    """

    def __init__(
        self, take_a_set: Callable[[], int], heard: Callable[[int], None], *, at_once: int, stopping: Callable[[], bool]
    ) -> None:
        self._take_a_set = take_a_set
        self._heard = heard
        self._stopping = stopping
        self._places = threading.BoundedSemaphore(at_once)

    def run(self, slot: int) -> None:
        self._heard(slot)
        if not self._places.acquire(blocking=False):
            return
        try:
            until = time.monotonic() + DRAIN_SECONDS
            while not self._stopping() and self._take_a_set() and time.monotonic() < until:
                pass
        finally:
            self._places.release()
