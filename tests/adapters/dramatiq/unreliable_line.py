"""A TCP line to Redis that breaks where a test says: trap 37 needs a reply that was sent and never came."""

import socket
import threading
import time
from contextlib import suppress
from typing import Final, Self
from urllib.parse import urlsplit

_PART_BYTES: Final = 65_536


class UnreliableLine:
    """Carries bytes both ways until one direction holds a text it is to lose; then it hangs up. Each is lost once."""

    def __init__(self, broker_url: str) -> None:
        self._server = urlsplit(broker_url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._requests_to_lose: list[bytes] = []
        self._replies_to_lose: list[bytes] = []
        self._away_until = 0.0
        self._lock = threading.Lock()
        self.lost: list[bytes] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Redis by way of this line."""
        port = self._listener.getsockname()[1]
        return self._server._replace(netloc=f":{self._server.password}@127.0.0.1:{port}").geturl()

    def lose_request(self, text: bytes, *, away_seconds: float = 0.0) -> None:
        """The next request that holds the text does not arrive, and nobody gets through for a while after it."""
        self._requests_to_lose.append(text)
        self._away_seconds = away_seconds

    def lose_reply(self, text: bytes) -> None:
        """The next reply that holds the text does not arrive; what it answers has happened."""
        self._replies_to_lose.append(text)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if time.monotonic() < self._away_until:
                    client.close()
                    continue
                server = socket.create_connection((str(self._server.hostname), self._server.port or 0))
                for source, target, losses in (
                    (client, server, self._requests_to_lose),
                    (server, client, self._replies_to_lose),
                ):
                    threading.Thread(target=self._carry, args=(source, target, losses), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, losses: list[bytes]) -> None:
        with suppress(OSError):
            while (part := source.recv(_PART_BYTES)) and not self._is_lost(part, losses):
                target.sendall(part)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        source.close()

    def _is_lost(self, part: bytes, losses: list[bytes]) -> bool:
        with self._lock:
            if time.monotonic() < self._away_until:
                return True
            for text in losses:
                if text in part:
                    losses.remove(text)
                    self.lost.append(text)
                    if losses is self._requests_to_lose:
                        self._away_until = time.monotonic() + self._away_seconds
                    return True
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
