"""The embedded servers of one home, there while somebody is inside."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from adapters.embedded.postgres_server import PostgresServer
from adapters.embedded.redis_server import RedisServer
from adapters.embedded.shared_server import SharedServer, StopMode


@dataclass(frozen=True)
class ServerUrls:
    """Where the embedded servers are reached: `postgresql://…` and `redis://…`, empty for one that was not wanted."""

    database_url: str
    broker_url: str


class EmbeddedServers:
    """PostgreSQL and Redis for every ikkai process that works in the home: the first starts them, the last stops them.

    A crash, of a process, a server or the machine, leaves nothing that keeps the next one from starting them.
    """

    def __init__(self, home: Path, *, database: bool = True, broker: bool = True) -> None:
        # Processes are recognised by the folder they stand in, which the kernel tells with all links resolved.
        home = home.resolve()
        self._database = SharedServer(PostgresServer(home / "postgres"), home / "postgres")
        self._broker = SharedServer(RedisServer(home / "redis"), home / "redis")
        self._wants_database = database
        self._wants_broker = broker
        self._entered = ExitStack()

    def __enter__(self) -> ServerUrls:
        """Raises: EmbeddedServersUnavailable"""
        with ExitStack() as entered:
            urls = ServerUrls(
                database_url=_enter(self._database, entered) if self._wants_database else "",
                broker_url=_enter(self._broker, entered) if self._wants_broker else "",
            )
            self._entered = entered.pop_all()
        return urls

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._entered.close()

    def restart_database(self, mode: StopMode = "immediate") -> None:
        """Takes the database away under everyone's feet, and back at the same address; "immediate" as a crash would."""
        self._database.restart(mode)

    def restart_broker(self, mode: StopMode = "immediate") -> None:
        """Takes the broker away under everyone's feet, and back at the same address; "immediate" as a crash would."""
        self._broker.restart(mode)


def _enter(server: SharedServer, entered: ExitStack) -> str:
    url = server.enter()
    entered.callback(server.leave)
    return url
