"""A server on a real socket that does to each request what its script says, down to the single TCP segment."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: the kernel sends RST in place of FIN


@dataclass(frozen=True)
class SeenRequest:
    """One request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Ending:
    """The end of a server's day, for which everything slow waits; so it knows how many were slow at a time."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._waiting = 0
        self.most_waiting = 0

    def wait(self, seconds: float | None = None) -> bool:
        """Returns: whether the end came within these seconds."""
        with self._lock:
            self._waiting += 1
            self.most_waiting = max(self.most_waiting, self._waiting)
        try:
            return self._over.wait(seconds)
        finally:
            with self._lock:
                self._waiting -= 1

    def come(self) -> None:
        self._over.set()


# Returns whether the connection is kept for another request.
Behaviour = Callable[[socket.socket, Ending], bool]


def reply(status: int, body: bytes | str = b"", content_type: str | None = "application/json", *headers: str) -> bytes:
    """A whole HTTP answer."""
    content = body if isinstance(body, bytes) else body.encode()
    lines = [f"HTTP/1.1 {status} Scripted", *headers]
    if status != 204:
        lines.append(f"Content-Length: {len(content)}")
    if content_type is not None:
        lines.append(f"Content-Type: {content_type}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content


def answer(
    status: int, body: bytes | str = b"", content_type: str | None = "application/json", *headers: str
) -> Behaviour:
    """Answers whole, and keeps the connection."""
    return bytes_then(reply(status, body, content_type, *headers), lambda *_: True)


def answer_json(status: int, content: Any, *headers: str) -> Behaviour:
    """Answers with JSON, and keeps the connection."""
    return answer(status, json.dumps(content), "application/json", *headers)


def late(seconds: float, behaviour: Behaviour) -> Behaviour:
    """Behaves like that only after a while."""

    def behave(connection: socket.socket, ending: Ending) -> bool:
        ending.wait(seconds)
        return behaviour(connection, ending)

    return behave


def bytes_then(content: bytes, behaviour: Behaviour) -> Behaviour:
    """Sends some bytes and then behaves like that."""

    def behave(connection: socket.socket, ending: Ending) -> bool:
        connection.sendall(content)
        return behaviour(connection, ending)

    return behave


def hang_up(_connection: socket.socket, _ending: Ending) -> bool:
    """Closes with FIN."""
    return False


def reset(connection: socket.socket, _ending: Ending) -> bool:
    """Closes with RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    return False


def reset_unread(connection: socket.socket, ending: Ending) -> bool:
    """Closes with RST when the request has come, without having read it."""
    connection.recv(1, socket.MSG_PEEK)
    return reset(connection, ending)


def silence(_connection: socket.socket, ending: Ending) -> bool:
    """Says nothing and keeps the line open."""
    ending.wait()
    return False


def drip(content: bytes, every_seconds: float) -> Behaviour:
    """Sends one byte after the other, slowly."""

    def behave(connection: socket.socket, ending: Ending) -> bool:
        for position in range(len(content)):
            connection.sendall(content[position : position + 1])
            if ending.wait(every_seconds):
                break
        return False

    return behave


class ScriptedServer:
    """Does the script's lines in the order in which requests come; the last one for all that follow."""

    def __init__(self, *script: Behaviour, at_accept: Behaviour | None = None) -> None:
        self._script: Sequence[Behaviour] = script
        self._at_accept = at_accept
        self._lock = threading.Lock()
        self._ending = Ending()
        self._threads: list[threading.Thread] = []
        self._connections: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.requests: list[SeenRequest] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    @property
    def connections(self) -> int:
        """How many were ever made."""
        return len(self._connections)

    @property
    def busiest(self) -> int:
        """The most requests that it let wait at a time."""
        return self._ending.most_waiting

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.come()
        self._listener.shutdown(socket.SHUT_RDWR)
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        self._listener.close()

    def wait_for_the_end_of_connection(self, number: int) -> None:
        """Until connection `number`, from 1, is closed on this side."""
        self._threads[number].join(10)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(30)
            if self._at_accept is not None:
                self._at_accept(connection, self._ending)
                return
            stream = connection.makefile("rb")
            with stream:
                while (request := _read(stream.readline, stream.read)) is not None:
                    if not self._behave(request, connection):
                        return

    def _behave(self, request: SeenRequest, connection: socket.socket) -> bool:
        with self._lock:
            behaviour = self._script[min(len(self.requests), len(self._script) - 1)]
            self.requests.append(request)
        return behaviour(connection, self._ending)


def _read(read_line: Callable[[], bytes], read: Callable[[int], bytes]) -> SeenRequest | None:
    first = read_line().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers = {}
    while line := read_line().strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    return SeenRequest(first[0], first[1], headers, read(int(headers.get("content-length", "0"))))
