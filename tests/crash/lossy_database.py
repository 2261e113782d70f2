"""A line to Postgres on which the answer to a COMMIT is lost: it happened, and nobody was told (report B27)."""

import socket
import threading
from contextlib import suppress
from typing import Final, Self

from sqlalchemy import make_url

_PART_BYTES: Final = 65_536
_COMMITTED: Final = b"COMMIT\x00"  # the tag of a CommandComplete. Source: postgresql.org/docs, "Message Formats"
_NO_ENCRYPTION: Final = {"sslmode": "disable", "gssencmode": "disable"}  # or nothing could be read on the way


class LossyDatabase:
    """Carries bytes both ways; where a transaction said what a test waits for, its COMMIT's answer is lost.

    Then the connection is gone. Each is lost once.
    """

    def __init__(self, database_url: str) -> None:
        self._server = make_url(database_url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._awaited: dict[str, tuple[bytes, ...]] = {}
        self.lost: set[str] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The same database by way of this line."""
        port = self._listener.getsockname()[1]
        url = self._server.set(host="127.0.0.1", port=port, query=_NO_ENCRYPTION)
        return url.render_as_string(hide_password=False)

    def lose_commit(self, name: str, *parts: str) -> None:
        """The COMMIT after a statement with all of these parts in its text and values is answered by silence."""
        self._awaited[name] = tuple(part.encode() for part in parts)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = self._connect()
                said: list[str] = []  # which of the awaited statements this connection's transaction has sent
                threading.Thread(target=self._carry_requests, args=(client, server, said), daemon=True).start()
                threading.Thread(target=self._carry_replies, args=(server, client, said), daemon=True).start()

    def _connect(self) -> socket.socket:
        host = str(self._server.query.get("host") or self._server.host)
        port = self._server.query.get("port") or self._server.port
        if not host.startswith("/"):
            return socket.create_connection((host, int(str(port))))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(f"{host}/.s.PGSQL.{port}")
        return connection

    def _carry_requests(self, client: socket.socket, server: socket.socket, said: list[str]) -> None:
        with suppress(OSError):
            while part := client.recv(_PART_BYTES):
                for name, parts in list(self._awaited.items()):
                    if all(one in part for one in parts):
                        del self._awaited[name]
                        said.append(name)
                server.sendall(part)
        _hang_up(client, server)

    def _carry_replies(self, server: socket.socket, client: socket.socket, said: list[str]) -> None:
        with suppress(OSError):
            while part := server.recv(_PART_BYTES):
                if said and _COMMITTED in part:
                    self.lost.update(said)
                    break
                client.sendall(part)
        _hang_up(client, server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()


def _hang_up(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
