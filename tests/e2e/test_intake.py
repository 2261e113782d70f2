"""From the intake to the effect: exactly for what was committed, whatever happens between (reports B35, B50)."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from signal import SIGKILL

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from domain.operations import State
from domain.orders.events import read_event
from tests.e2e.installation import Installation, confirmed, installation_on
from tests.e2e.outages import FragileServers, fragile_servers
from tests.entrypoints.sandbox.world import Parcel, until

pytestmark = pytest.mark.xdist_group(__name__)

SECRET = "open-sesame"
LATE_SECONDS = 2.0


@pytest.fixture(scope="module")
def servers_to_lose() -> Iterator[FragileServers]:
    with fragile_servers() as servers:
        yield servers


@pytest.fixture(scope="module")
def installation(servers_to_lose: FragileServers) -> Iterator[Installation]:
    keys = SecretStr(f"shop=events:{SECRET}")
    with installation_on(servers_to_lose.urls, api_keys=keys) as installation:
        installation.start_worker()
        yield installation


@pytest.fixture
def shop(installation: Installation) -> Iterator[httpx.Client]:
    """The shop's end of `POST /v1/events`."""
    api = installation.start("entrypoints.api")
    headers = {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/cloudevents+json"}
    with httpx.Client(base_url=str(api.announced["url"]), headers=headers, timeout=30, trust_env=False) as client:
        yield client
    api.kill()


def test_what_is_rolled_back_has_no_effect(installation: Installation) -> None:
    """The event was stored and its bell rung inside a transaction that failed: no worker ever hears of it (a)."""
    rolled_back, good = Parcel(), Parcel()
    now = installation.container.clock().now()
    dispatcher = installation.start_dispatcher()

    with pytest.raises(ZeroDivisionError):
        installation.container.transactions().run(
            lambda books: [books.inbox.store_each([read_event(confirmed(rolled_back), now=now)]), 1 // 0]
        )
    installation.confirm(good)
    installation.wait_for(State.COMPLETED, good)
    assert installation.world.ledger(rolled_back) == []
    assert installation.rows("SELECT 1 FROM orders WHERE order_id = :it", it=rolled_back.order_id) == []
    dispatcher.kill()
