"""Gateways that end with their test, and one sandbox process for all tests."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest

from adapters.http.shipping import HttpShippingGateway

TOKEN = "carrier-token-4711"
ROOT = Path(__file__).parents[3]
MAX_RETRY_AFTER_SECONDS = 600.0


class OpenGateway(Protocol):
    """Opens a gateway to a carrier; its deadline is generous unless the test is about it."""

    def __call__(
        self, url: str, *, deadline_seconds: float = 20.0, in_flight: int = 8, token: str = TOKEN
    ) -> HttpShippingGateway: ...


@pytest.fixture
def gateway_to() -> Iterator[OpenGateway]:
    """Gateways whose clock stands at 2026-10-21T07:27:00Z."""
    opened: list[HttpShippingGateway] = []

    def open_gateway(
        url: str, *, deadline_seconds: float = 20.0, in_flight: int = 8, token: str = TOKEN
    ) -> HttpShippingGateway:
        gateway = HttpShippingGateway(
            url,
            token,
            deadline_seconds=deadline_seconds,
            max_retry_after_seconds=MAX_RETRY_AFTER_SECONDS,
            in_flight=in_flight,
            now=lambda: datetime(2026, 10, 21, 7, 27, tzinfo=UTC),
        )
        opened.append(gateway)
        return gateway

    yield open_gateway
    for gateway in opened:
        gateway.close()


@pytest.fixture(scope="session")
def sandbox_url() -> Iterator[str]:
    """The sandbox as a process of its own."""
    command = [sys.executable, "-m", "entrypoints.sandbox", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()
