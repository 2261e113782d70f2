"""How long-running processes begin and end: a line on stdout when ready, a signal (or an orphan's fate) at the end."""

import json
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from application.workers import SEEN_SECONDS, Role, TellOfWorkers
from domain.errors import Unavailable

PARENT_CHECK_SECONDS: Final = 1.0


class Stop:
    """Set by SIGTERM or SIGINT, or when the parent process has ended (nobody is left who could stop us)."""

    def __init__(self, *, with_parent: bool) -> None:
        self._event = threading.Event()
        self._parent = os.getppid() if with_parent else None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._event.set())

    @property
    def is_set(self) -> bool:
        if self._parent is not None and os.getppid() != self._parent:
            self._event.set()
        return self._event.is_set()

    def wait(self) -> None:
        """Returns when it is time to stop."""
        while not self.is_set:
            self._event.wait(PARENT_CHECK_SECONDS)


def announce(facts: Mapping[str, Any]) -> None:
    """Tells whoever started this process that it is ready, and where. Shape: one line of JSON on stdout."""
    print(json.dumps(facts), flush=True)


def log_to_stderr() -> None:
    """Logs as lines on stderr; what a library says of each call or message is left out: it quotes what is in them."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(levelname)s %(name)s %(message)s")
    for chatty in ("httpx", "alembic", "dramatiq", "stripe"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


@contextmanager
def told_alive(tell: TellOfWorkers, role: Role, stop: Stop) -> Iterator[None]:
    """Says every now and then that this process is alive, until it ends; the database may be away meanwhile."""

    def say_so() -> None:
        while not stop.is_set:
            with suppress(Unavailable):
                tell.seen(role)
            time.sleep(SEEN_SECONDS)

    threading.Thread(target=say_so, daemon=True).start()
    try:
        yield
    finally:
        with suppress(Unavailable):
            tell.leave()
