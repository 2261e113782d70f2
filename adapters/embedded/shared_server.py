"""One server shared by every ikkai process of a home: started by the first, stopped by the last.

Each user holds a shared lock on the file `users`; starting and stopping happen under an exclusive one on `guard`. Both
are kernel locks: they end with the process that holds them, however it ends, so no crash leaves one behind.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol

from adapters.embedded.errors import EmbeddedServersUnavailable
from adapters.embedded.processes import ServerProcesses, wait_until

# In order and with everything written, or at once as in a crash.
StopMode = Literal["fast", "immediate"]

# A server that is found running may be in the middle of recovering from a crash or of shutting down. Both have to
# get through what it has written since its last checkpoint: at most 1 GB by default, 10 MB/s on a slow disk.
FOUND_SECONDS = 100.0


class OnDemandServer(Protocol):
    """What one kind of server knows about itself; every call but `url` comes under the guard."""

    @property
    def processes(self) -> ServerProcesses: ...

    def url(self) -> str:
        """Where it is reached."""

    def answers(self) -> bool:
        """Whether it does its work for us right now."""

    def launch(self) -> None:
        """Starts it, nothing of it running, and returns when it answers.

        Raises: EmbeddedServersUnavailable if it does not.
        """

    def stop(self, mode: StopMode) -> None:
        """Returns when nothing of it runs any more."""

    def forget_address(self) -> None:
        """Gives up the URL of a stopped server; until then a restart comes back at the same one."""


class SharedServer:
    """A place at a server, taken with `enter` and given back with `leave`."""

    def __init__(self, server: OnDemandServer, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._users_file = folder / "users"
        self._place: int | None = None

    def enter(self) -> str:
        """Has the server running and keeps it so until `leave`.

        Returns: its URL.
        Raises: EmbeddedServersUnavailable
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with self._guard():
                self._take_place()
                try:
                    self._bring_up()
                    return self._server.url()
                except BaseException:
                    self._give_place_back()
                    raise
        except OSError as error:
            raise EmbeddedServersUnavailable(f"no server can run in {self._folder}: {error}") from error

    def leave(self) -> None:
        """Gives the place back; who was the last stops the server."""
        try:
            with self._guard():
                self._give_place_back()
        except FileNotFoundError:
            # Somebody has deleted the home: nobody else can come to this server any more.
            self._server.stop("immediate")

    def restart(self, mode: StopMode) -> None:
        """Stops and starts it in place, at the same address, without regard for its users."""
        with self._guard():
            self._server.stop(mode)
            self._server.launch()

    def _take_place(self) -> None:
        self._place = _open(self._users_file)
        fcntl.flock(self._place, fcntl.LOCK_SH)

    def _give_place_back(self) -> None:
        if self._place is None:
            return
        place, self._place = self._place, None
        _unlock(place)
        if self._is_empty():
            self._server.stop("fast")
            self._server.forget_address()

    def _is_empty(self) -> bool:
        """Whether nobody has a place. It stays so: places are taken under the guard, which we hold."""
        probe = _open(self._users_file)
        try:
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(probe)
        return True

    def _bring_up(self) -> None:
        processes = self._server.processes
        wait_until(lambda: self._server.answers() or processes.leader() is None, FOUND_SECONDS)
        if self._server.answers():
            return
        # What still stands there is deaf, or the orphans of a server that was killed.
        self._server.stop("immediate")
        self._server.launch()

    @contextmanager
    def _guard(self) -> Iterator[None]:
        guard = _open(self._folder / "guard")
        try:
            fcntl.flock(guard, fcntl.LOCK_EX)
            yield
        finally:
            _unlock(guard)


def _open(path: Path) -> int:
    """Python opens files closed to child processes: a server that inherited a lock would hold it for ever."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _unlock(descriptor: int) -> None:
    """Says so aloud: a forked child would keep the lock of a file that is merely closed."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
