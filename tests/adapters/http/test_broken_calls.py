"""Traps 58 and 59, report B42: a call without an answer is surely not sent, or of unknown fate; nothing is guessed."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from adapters.calls.replies import MAX_BODY_BYTES
from domain.operations import Answer, Outcome
from tests.adapters.http.conftest import TOKEN, OpenGateway
from tests.adapters.http.parcels import booked, parcel
from tests.adapters.http.scripted_server import (
    Behaviour,
    ScriptedServer,
    answer,
    answer_json,
    bytes_then,
    drip,
    hang_up,
    late,
    reply,
    reset,
    reset_unread,
    silence,
)

DEADLINE_SECONDS = 0.8
SOON_AFTER_SECONDS = 1.0  # what this machine, shared with others, may need to notice a deadline
BOOKED = reply(201, json.dumps(booked()))


@pytest.fixture
def unused_address() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def crowded_address() -> Iterator[str]:
    """An address whose queue is full: the kernel does not even answer who wants to connect."""
    with ExitStack() as sockets:
        listener = sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def request_one(gateway_to: OpenGateway, url: str, deadline_seconds: float = 20.0) -> Answer:
    """One parcel asked for, and never later than the deadline."""
    began = time.monotonic()
    (answered,) = gateway_to(url, deadline_seconds=deadline_seconds).request_each([parcel()])
    assert time.monotonic() - began < deadline_seconds + SOON_AFTER_SECONDS
    return answered


def test_a_refused_connection_is_surely_not_sent(gateway_to: OpenGateway, unused_address: str) -> None:
    """Nobody listens, so nobody can have done anything."""
    answered = request_one(gateway_to, f"http://{unused_address}")
    assert answered == Answer(Outcome.NOT_SENT, "not sent: ConnectError: All connection attempts failed")


def test_a_name_that_does_not_exist_is_surely_not_sent(gateway_to: OpenGateway) -> None:
    """RFC 6761: `.invalid` never resolves."""
    assert request_one(gateway_to, "http://carrier.invalid").outcome is Outcome.NOT_SENT


def test_a_deadline_that_ends_while_connecting_is_surely_not_sent(
    gateway_to: OpenGateway, crowded_address: str
) -> None:
    """A time-out by itself proves nothing; how far the request had come does."""
    answered = request_one(gateway_to, f"http://{crowded_address}", DEADLINE_SECONDS)
    assert answered == Answer(Outcome.NOT_SENT, "not sent: ConnectTimeout")


def test_a_deadline_that_ends_within_the_tls_handshake_is_surely_not_sent(gateway_to: OpenGateway) -> None:
    """The handshake carries nothing of the request."""
    with ScriptedServer(answer(201), at_accept=silence) as server:
        answered = request_one(gateway_to, f"https://{server.address}", DEADLINE_SECONDS)
        assert answered == Answer(Outcome.NOT_SENT, "not sent: ConnectTimeout")
        assert server.connections == 1


def test_a_server_without_tls_is_surely_not_sent(gateway_to: OpenGateway) -> None:
    """A wrong scheme in the settings costs no parcel."""
    with ScriptedServer(answer(201), at_accept=bytes_then(b"HTTP/1.1 400 No\r\n\r\n", hang_up)) as server:
        answered = request_one(gateway_to, f"https://{server.address}")
        assert answered.outcome is Outcome.NOT_SENT
        assert server.requests == []


@pytest.mark.parametrize("url", ["", "ftp://carrier", "carrier", "http://", "http://[", "http://carrier:99999999"])
def test_an_address_that_is_none_is_surely_not_sent(gateway_to: OpenGateway, url: str) -> None:
    """A mistake in the settings is retried until they are right."""
    assert request_one(gateway_to, url).outcome is Outcome.NOT_SENT


@pytest.mark.parametrize("token", [f"{TOKEN}\n", "トークン"])
def test_a_token_that_fits_no_header_is_surely_not_sent_and_not_shown(gateway_to: OpenGateway, token: str) -> None:
    """A token read with its line's end is a usual mistake; the reason must not carry it into tables and logs."""
    with ScriptedServer(answer(201)) as server:
        (answered,) = gateway_to(server.url, token=token).request_each([parcel()])
        assert answered.outcome is Outcome.NOT_SENT
        assert token.strip() not in answered.reason
        assert server.requests == []


AFTER_THE_REQUEST = {
    "reset": reset,
    "FIN without a byte": hang_up,
    "silence": silence,
    "half a status line": bytes_then(BOOKED[:12], hang_up),
    "headers without a body": bytes_then(BOOKED.partition(b"\r\n\r\n")[0] + b"\r\n\r\n", hang_up),
    "half a body, then FIN": bytes_then(BOOKED[:-20], hang_up),
    "half a body, then reset": bytes_then(BOOKED[:-20], late(0.1, reset)),
    "half a body, then silence": bytes_then(BOOKED[:-20], silence),
    "not HTTP": bytes_then(b"+OK ready\r\n", hang_up),
    "endless 1xx": bytes_then(b"HTTP/1.1 102 Processing\r\n\r\n" * 50, silence),
    "switching protocols": bytes_then(
        b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", silence
    ),
    "a huge header": bytes_then(b"HTTP/1.1 201 OK\r\nX: " + b"x" * 200_000, hang_up),
    "a dripping answer": drip(BOOKED, 0.2),
    "a dripping body": bytes_then(BOOKED[:-30], drip(BOOKED[-30:], 0.2)),
}


@pytest.mark.parametrize("behaviour", AFTER_THE_REQUEST.values(), ids=AFTER_THE_REQUEST.keys())
def test_whatever_breaks_after_the_request_leaves_its_fate_unknown(
    gateway_to: OpenGateway, behaviour: Behaviour
) -> None:
    """The parcel may be booked; the request went out once and ended by the total deadline."""
    with ScriptedServer(behaviour) as server:
        answered = request_one(gateway_to, server.url, DEADLINE_SECONDS)
        assert answered.outcome is Outcome.UNKNOWN
        assert answered.reason
        assert answered.result == {}
        assert len(server.requests) == 1


def test_a_connection_reset_before_the_request_is_read_leaves_its_fate_unknown(gateway_to: OpenGateway) -> None:
    """We cannot tell it from a reset after the work was done."""
    with ScriptedServer(answer(201), at_accept=reset_unread) as server:
        answered = request_one(gateway_to, server.url)
        assert answered.outcome is Outcome.UNKNOWN
        assert (server.connections, server.requests) == (1, [])


def test_an_answer_that_is_too_long_is_not_read_to_its_end(gateway_to: OpenGateway) -> None:
    """No server fills our memory."""
    body = json.dumps(booked(note="x" * MAX_BODY_BYTES))
    with ScriptedServer(answer(201, body)) as server:
        answered = request_one(gateway_to, server.url)
        assert answered == Answer(Outcome.UNKNOWN, "201 with more than 1048576 bytes")
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_a_redirect_is_not_followed_and_leaves_the_fate_unknown(gateway_to: OpenGateway, status: int) -> None:
    """Nobody may make us repeat a POST, or turn it into a GET and believe that answer."""
    with ScriptedServer(answer_json(status, booked(), "Location: /elsewhere"), answer_json(201, booked())) as server:
        answered = request_one(gateway_to, server.url)
        assert answered.outcome is Outcome.UNKNOWN
        assert answered.reason.startswith(str(status))
        assert len(server.requests) == 1


def test_a_connection_the_server_gave_up_meanwhile_is_not_used_again(gateway_to: OpenGateway) -> None:
    """A second parcel does not suffer from the first one's connection."""
    with ScriptedServer(bytes_then(BOOKED, hang_up), answer_json(201, booked())) as server:
        gateway = gateway_to(server.url)
        assert gateway.request_each([parcel()])[0].outcome is Outcome.DONE
        server.wait_for_the_end_of_connection(1)
        assert gateway.request_each([parcel()])[0].outcome is Outcome.DONE
        assert (len(server.requests), server.connections) == (2, 2)
