"""Traps 58 and 59, report B42: a charge without an answer is surely not sent, or of unknown fate; no guesses."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from adapters.calls.passage import Passage
from adapters.stripe.transport import MAX_BODY_BYTES
from domain.operations import Answer, Outcome
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
from tests.adapters.stripe.conftest import API_KEY, OpenGateway
from tests.adapters.stripe.operations import INTENT, charge, intent

DEADLINE_SECONDS = 0.8
SOON_AFTER_SECONDS = 1.0  # what this machine, shared with others, may need to notice a deadline
PAID = reply(200, json.dumps(intent()))


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


def charge_one(gateway_to: OpenGateway, url: str, deadline_seconds: float = 20.0, **options: Any) -> Answer:
    """One charge asked for, and never later than the deadline."""
    began = time.monotonic()
    (answered,) = gateway_to(url, deadline_seconds=deadline_seconds, **options).charge_each([charge()])
    assert time.monotonic() - began < deadline_seconds + SOON_AFTER_SECONDS
    return answered


def test_without_a_key_nothing_is_asked(gateway_to: OpenGateway) -> None:
    """Whoever has not yet configured the provider loses no charge by it."""
    with ScriptedServer(answer_json(200, intent())) as server:
        answered = charge_one(gateway_to, server.url, api_key="")
        assert answered == Answer(Outcome.NOT_SENT, "no key of the payment provider is configured")
        assert server.connections == 0


@pytest.mark.parametrize("api_key", [f"{API_KEY}\n", "sk 1", "鍵"])
def test_a_key_that_is_none_is_surely_not_sent_and_not_shown(gateway_to: OpenGateway, api_key: str) -> None:
    """A key read with its line's end is a usual mistake; the reason must not carry it into tables and logs."""
    with ScriptedServer(answer_json(200, intent())) as server:
        answered = charge_one(gateway_to, server.url, api_key=api_key)
        assert answered.outcome is Outcome.NOT_SENT
        assert api_key.strip() not in answered.reason
        assert server.connections == 0


def test_a_refused_connection_is_surely_not_sent(gateway_to: OpenGateway, unused_address: str) -> None:
    """Nobody listens, so nobody can have charged."""
    answered = charge_one(gateway_to, f"http://{unused_address}")
    assert answered.outcome is Outcome.NOT_SENT
    assert answered.reason.startswith("not sent: ClientConnectorError: Cannot connect to host")


def test_a_name_that_does_not_exist_is_surely_not_sent(gateway_to: OpenGateway) -> None:
    """RFC 6761: `.invalid` never resolves."""
    assert charge_one(gateway_to, "http://stripe.invalid").outcome is Outcome.NOT_SENT


def test_a_deadline_that_ends_while_connecting_is_surely_not_sent(
    gateway_to: OpenGateway, crowded_address: str
) -> None:
    """A time-out by itself proves nothing; how far the request had come does."""
    answered = charge_one(gateway_to, f"http://{crowded_address}", DEADLINE_SECONDS)
    assert answered == Answer(Outcome.NOT_SENT, "not sent within 0.8 s")


def test_a_deadline_that_ends_within_the_tls_handshake_is_surely_not_sent(gateway_to: OpenGateway) -> None:
    """The handshake carries nothing of the request, and its socket is closed."""
    with ScriptedServer(answer(200), at_accept=silence) as server:
        gateway = gateway_to(f"https://{server.address}", deadline_seconds=DEADLINE_SECONDS)
        assert gateway.charge_each([charge()]) == [Answer(Outcome.NOT_SENT, "not sent within 0.8 s")]
        assert server.connections == 1
        gateway.close()


def test_a_server_without_tls_is_surely_not_sent(gateway_to: OpenGateway) -> None:
    """A wrong scheme in the settings costs no charge."""
    with ScriptedServer(answer(200), at_accept=bytes_then(b"HTTP/1.1 400 No\r\n\r\n", hang_up)) as server:
        answered = charge_one(gateway_to, f"https://{server.address}")
        assert answered.outcome is Outcome.NOT_SENT
        assert server.requests == []


@pytest.mark.parametrize("url", ["ftp://stripe", "stripe", "http://", "http://[", "http://stripe:99999999"])
def test_an_address_that_is_none_is_surely_not_sent(gateway_to: OpenGateway, url: str) -> None:
    """A mistake in the settings is retried until they are right."""
    assert charge_one(gateway_to, url).outcome is Outcome.NOT_SENT


AFTER_THE_REQUEST = {
    "reset": reset,
    "FIN without a byte": hang_up,
    "silence": silence,
    "half a status line": bytes_then(PAID[:12], hang_up),
    "headers without a body": bytes_then(PAID.partition(b"\r\n\r\n")[0] + b"\r\n\r\n", hang_up),
    "half a body, then FIN": bytes_then(PAID[:-20], hang_up),
    "half a body, then reset": bytes_then(PAID[:-20], late(0.1, reset)),
    "half a body, then silence": bytes_then(PAID[:-20], silence),
    "half a body that says to be whole": answer(200, json.dumps(intent())[:-20]),
    "not HTTP": bytes_then(b"+OK ready\r\n", hang_up),
    "endless 1xx": bytes_then(b"HTTP/1.1 102 Processing\r\n\r\n" * 50, silence),
    "switching protocols": bytes_then(
        b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", silence
    ),
    "a huge header": bytes_then(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000, hang_up),
    "a dripping answer": drip(PAID, 0.2),
    "a dripping body": bytes_then(PAID[:-30], drip(PAID[-30:], 0.2)),
}


@pytest.mark.parametrize("behaviour", AFTER_THE_REQUEST.values(), ids=AFTER_THE_REQUEST.keys())
def test_whatever_breaks_after_the_request_leaves_its_fate_unknown(
    gateway_to: OpenGateway, behaviour: Behaviour
) -> None:
    """The card may be charged; the request went out once and ended by the total deadline."""
    with ScriptedServer(behaviour) as server:
        answered = charge_one(gateway_to, server.url, DEADLINE_SECONDS)
        assert answered.outcome is Outcome.UNKNOWN
        assert answered.reason
        assert answered.result == {}
        assert len(server.requests) == 1


def test_a_connection_reset_before_the_request_is_read_leaves_its_fate_unknown(gateway_to: OpenGateway) -> None:
    """We cannot tell it from a reset after the card was charged."""
    with ScriptedServer(answer(200), at_accept=reset_unread) as server:
        answered = charge_one(gateway_to, server.url)
        assert answered.outcome is Outcome.UNKNOWN
        assert (server.connections, server.requests) == (1, [])


def test_a_charge_on_a_kept_connection_that_breaks_is_not_sent_again(gateway_to: OpenGateway) -> None:
    """aiohttp repeats reads on its own, but never this."""
    with ScriptedServer(answer_json(200, intent()), reset, answer_json(200, intent())) as server:
        gateway = gateway_to(server.url)
        assert gateway.charge_each([charge()])[0].outcome is Outcome.DONE
        assert gateway.charge_each([charge()])[0].outcome is Outcome.UNKNOWN
        assert (len(server.requests), server.connections) == (2, 1)


def test_an_answer_that_is_too_long_is_not_read_to_its_end(gateway_to: OpenGateway) -> None:
    """No server fills our memory."""
    body = json.dumps(intent(note="x" * MAX_BODY_BYTES))
    with ScriptedServer(answer(200, body)) as server:
        answered = charge_one(gateway_to, server.url)
        assert answered == Answer(Outcome.UNKNOWN, f"200 with more than {MAX_BODY_BYTES} bytes")
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_a_redirect_is_not_followed_and_leaves_the_fate_unknown(gateway_to: OpenGateway, status: int) -> None:
    """Nobody may make us repeat a POST, or turn it into a GET and believe that answer."""
    with ScriptedServer(answer_json(status, intent(), "Location: /elsewhere"), answer_json(200, intent())) as server:
        answered = charge_one(gateway_to, server.url)
        assert answered.outcome is Outcome.UNKNOWN
        assert answered.reason
        assert len(server.requests) == 1


def test_a_connection_the_server_gave_up_meanwhile_is_not_used_again(gateway_to: OpenGateway) -> None:
    """A second charge does not suffer from the first one's connection."""
    with ScriptedServer(bytes_then(PAID, hang_up), answer_json(200, intent())) as server:
        gateway = gateway_to(server.url)
        assert gateway.charge_each([charge()])[0].outcome is Outcome.DONE
        server.wait_for_the_end_of_connection(1)
        assert gateway.charge_each([charge()])[0].outcome is Outcome.DONE
        assert (len(server.requests), server.connections) == (2, 2)


def test_a_process_that_was_frozen_while_it_connected_sends_nothing(
    gateway_to: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last look at the clock comes after the connection and before the first byte."""
    resolve = socket.getaddrinfo

    def resolve_slowly(*arguments: Any, **options: Any) -> Any:
        time.sleep(DEADLINE_SECONDS * 0.95)
        return resolve(*arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_slowly)
    with ScriptedServer(answer_json(200, intent())) as server:
        answered = charge_one(gateway_to, server.url.replace("127.0.0.1", "localhost"), DEADLINE_SECONDS)
        assert answered.outcome is Outcome.NOT_SENT
        assert server.requests == []


def test_the_clock_is_looked_at_between_connecting_and_the_first_byte(
    gateway_to: OpenGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frozen on a connection just made, the process holds no lease any more when it wakes up."""
    note_sending = Passage.note_sending

    def freeze(passage: Passage) -> None:
        time.sleep(DEADLINE_SECONDS * 0.92)
        note_sending(passage)

    monkeypatch.setattr(Passage, "note_sending", freeze)
    with ScriptedServer(answer_json(200, intent())) as server:
        answered = charge_one(gateway_to, server.url, DEADLINE_SECONDS)
        assert answered == Answer(Outcome.NOT_SENT, "not sent: too little time was left")
        server.wait_for_the_end_of_connection(1)
        assert (server.connections, server.requests) == (1, [])


def test_what_a_proxy_in_the_environment_says_is_not_heard(
    gateway_to: OpenGateway, monkeypatch: pytest.MonkeyPatch, unused_address: str
) -> None:
    """Keys go to the provider, not to whom some variable names."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://{unused_address}")
    with ScriptedServer(answer_json(200, intent())) as server:
        assert charge_one(gateway_to, server.url).result["reference"] == INTENT
