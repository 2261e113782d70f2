"""Servers that a test may take away, and an installation that is at work on them when it does."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e.installation import Installation, installation_on
from tests.e2e.outages import FragileServers, fragile_servers

# Slow enough, and few enough at once, for an outage to come in the middle.
LATENCY_MS: Final = 150
CHARGES_IN_FLIGHT: Final = 4


@pytest.fixture(scope="module")
def servers_to_lose() -> Iterator[FragileServers]:
    with fragile_servers() as servers:
        yield servers


@pytest.fixture(scope="module")
def busy_installation(servers_to_lose: FragileServers) -> Iterator[Installation]:
    """Dispatcher and two workers, at providers that take their time; what they go through, they must outlive."""
    urls = servers_to_lose.urls
    with installation_on(urls, latency_ms=LATENCY_MS, stripe_in_flight=CHARGES_IN_FLIGHT) as installation:
        installation.start_dispatcher()
        for _ in range(2):
            installation.start_worker(threads=4)
        yield installation
