"""Gateways that end with their test, and one sandbox process and one localstripe process for all tests."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import httpx
import pytest

from adapters.stripe.payments import StripePaymentGateway

API_KEY = "sk_test_4711SECRET"
ROOT = Path(__file__).parents[3]
MAX_RETRY_AFTER_SECONDS = 600.0


class OpenGateway(Protocol):
    """Opens a gateway to a provider; its deadline is generous unless the test is about it."""

    def __call__(
        self,
        url: str,
        *,
        deadline_seconds: float = 20.0,
        in_flight: int = 50,
        api_key: str = API_KEY,
        clock_ahead: timedelta = timedelta(),
    ) -> StripePaymentGateway: ...


@pytest.fixture
def gateway_to() -> Iterator[OpenGateway]:
    """Gateways whose clock stands at 2026-10-21T07:27:00Z."""
    opened: list[StripePaymentGateway] = []

    def open_gateway(
        url: str,
        *,
        deadline_seconds: float = 20.0,
        in_flight: int = 50,
        api_key: str = API_KEY,
        clock_ahead: timedelta = timedelta(),
    ) -> StripePaymentGateway:
        gateway = StripePaymentGateway(
            url,
            api_key,
            deadline_seconds=deadline_seconds,
            max_retry_after_seconds=MAX_RETRY_AFTER_SECONDS,
            in_flight=in_flight,
            now=lambda: datetime(2026, 10, 21, 7, 27, tzinfo=UTC),
            clock_ahead=clock_ahead,
        )
        opened.append(gateway)
        return gateway

    yield open_gateway
    for gateway in opened:
        gateway.close()


@pytest.fixture(scope="session")
def sandbox_url() -> Iterator[str]:
    """The sandbox as a process of its own."""
    with _running("entrypoints.sandbox", "--port", "0") as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]


@pytest.fixture(scope="session")
def localstripe_url() -> Iterator[str]:
    """localstripe as a process of its own: a provider that knows no keys."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with _running("localstripe", "--port", str(port), "--from-scratch"):
        deadline = time.monotonic() + 30
        while not _answers(url):
            assert time.monotonic() < deadline, "localstripe did not start"
            time.sleep(0.05)
        yield url


@contextmanager
def _running(module: str, *options: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", module, *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/v1/customers", auth=(API_KEY, "")).is_success
    except httpx.TransportError:
        return False
