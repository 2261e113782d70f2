"""`ikkai billing run` killed in the middle and typed again, with no worker to help (reports B19, B20, B25)."""

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import text

from adapters.embedded import ServerUrls
from application.billing.creation import SET_CUSTOMERS
from tests.e2e.commands import IKKAI, ikkai
from tests.e2e.installation import TOTAL, Installation, running_installation, soon
from tests.entrypoints.sandbox.paying import Bill

MONTH = "2026-09"
IN_FLIGHT = 4
LATENCY_MS = 50  # slow enough for a kill to come in the middle of the charges
PAYING_EARLY, PAYING_LATE = 15, 15


@pytest.fixture
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template, latency_ms=LATENCY_MS, stripe_in_flight=IN_FLIGHT) as installation:
        yield installation


def test_a_command_killed_twice_is_typed_a_third_time(installation: Installation) -> None:
    """Killed between two sets of bills, then between two charges: each run makes only what is missing, once."""
    ids = [f"c-{number:04}" for number in range(SET_CUSTOMERS + PAYING_LATE)]
    paying = [Bill(one, MONTH) for one in (*ids[:PAYING_EARLY], *ids[SET_CUSTOMERS:])]
    free = ids[PAYING_EARLY:SET_CUSTOMERS]
    installation.subscribe(MONTH, *(bill.customer_id for bill in paying))
    installation.subscribe(MONTH, *free, price=0)

    with installation.container.engine().begin() as holder:
        # Whoever bills the second set waits here.
        holder.execute(text("SELECT FROM customers WHERE customer_id = :last FOR UPDATE"), {"last": ids[-1]})
        kill_once(installation, lambda: _bills(installation) == SET_CUSTOMERS)
    assert _bills(installation) == SET_CUSTOMERS
    assert installation.ledger("charges", *paying) == []

    kill_once(installation, lambda: len(installation.ledger("charges", *paying)) > IN_FLIGHT)
    assert _bills(installation) == len(ids)
    assert len(installation.ledger("charges", *paying)) < len(paying)

    report = ikkai("billing", "run", MONTH, "--json", environment=installation.settings.as_environment())
    assert (report.code, report.document["created"], report.document["already"]) == (0, 0, len(ids))
    assert report.document["charged"] == len(paying)
    assert report.document["total"] == {"JPY": TOTAL * len(paying)}
    charged = Counter(row["key"] for row in installation.ledger("charges", *paying))
    assert charged == Counter(bill.key for bill in paying)
    numbers = installation.rows("SELECT count(DISTINCT number), max(number) FROM bills")
    assert numbers == [(len(ids), len(ids))]


def kill_once(installation: Installation, true: Callable[[], bool]) -> None:
    """Types the command, and kills it as soon as this is true."""
    command = subprocess.Popen(
        [IKKAI, "billing", "run", MONTH, "--json"],
        env=installation.settings.as_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        soon(true)
    finally:
        command.kill()
        told, _ = command.communicate()
    assert told == ""


def _bills(installation: Installation) -> int:
    ((count,),) = installation.rows("SELECT count(*) FROM bills")
    return int(count)
