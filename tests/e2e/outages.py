"""Servers of a test's own, to be taken away in the middle of its work."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL, SIGQUIT, Signals

import psutil

from adapters.embedded import EmbeddedServers, ServerUrls
from adapters.postgres.engine import open_engine
from adapters.postgres.schema import migrate


class FragileServers:
    """A database with its schema and a queue, both empty; where they are reached never changes."""

    def __init__(self, home: Path, servers: EmbeddedServers, urls: ServerUrls) -> None:
        self.urls = urls
        self._home = home
        self._servers = servers

    def take_database_away(self) -> None:
        """As pg_ctl's immediate mode and a crash do: every connection is cut, nothing is tidied up."""
        _end(self._home / "postgres" / "data" / "postmaster.pid", SIGQUIT)

    def bring_database_back(self) -> None:
        """Starts it again, wherever it is; a running one is restarted in immediate mode."""
        self._servers.restart_database()

    def take_queue_away(self) -> None:
        """Kills Redis."""
        _end(self._home / "redis" / "data" / "redis.pid", SIGKILL)

    def bring_queue_back(self, *, empty: bool = False) -> None:
        """Starts Redis again: as far as it had written, or as one without persistence."""
        if empty:
            self.take_queue_away()
            shutil.rmtree(self._home / "redis" / "data" / "appendonlydir")
        self._servers.restart_broker()


def _end(id_file: Path, signal: Signals) -> None:
    leader = psutil.Process(int(id_file.read_text().split()[0]))
    everyone = [leader, *leader.children()]
    leader.send_signal(signal)
    _, living = psutil.wait_procs(everyone, timeout=10)
    assert not living


@contextmanager
def fragile_servers() -> Iterator[FragileServers]:
    """Starts both in a folder of their own. Its path is short, as a socket's must be."""
    home = Path(tempfile.mkdtemp(prefix="fragile-"))
    servers = EmbeddedServers(home)
    try:
        with servers as urls:
            engine = open_engine(urls.database_url)
            migrate(engine)
            engine.dispose()
            yield FragileServers(home, servers, urls)
    finally:
        shutil.rmtree(home, ignore_errors=True)
