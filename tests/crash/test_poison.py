"""Work that kills its worker every time: it ends, and ends nobody else (report B52; trap 43)."""

from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from entrypoints.supervisor import Supervisor
from tests.crash.worker import CLAIMED, POINT, SIGNAL, SUBJECTS
from tests.e2e.installation import Installation, running_installation, soon
from tests.entrypoints.sandbox.world import Parcel

MAX_ATTEMPTS = 3


@pytest.fixture
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template, max_attempts=MAX_ATTEMPTS) as installation:
        yield installation


def test_poison_is_parked_and_its_neighbours_are_done(installation: Installation) -> None:
    """Counted when claimed: after the last attempt the poison is parked and shown; twenty good parcels are booked."""
    poison, good = Parcel(), [Parcel() for _ in range(20)]
    variables = {POINT: CLAIMED, SUBJECTS: poison.order_id, SIGNAL: "SIGKILL"}
    installation.start_dispatcher()
    kept_alive = Supervisor()
    kept_alive.processes = [installation.start("tests.crash.worker", "--threads", "2", **variables)]
    installation.confirm(*good[:10], poison, *good[10:])

    def parked() -> bool:
        kept_alive.tend()
        states = installation.rows("SELECT state FROM operations WHERE subject = :order", order=poison.order_id)
        return states == [(State.PARKED,)]

    soon(parked)
    operation = installation.operation(poison)
    assert operation.attempts == MAX_ATTEMPTS
    assert operation.reason == "given up after 3 attempts: its worker ended before sending"
    assert installation.world.seen(poison) == []
    installation.wait_for(State.COMPLETED, *good)
    assert sum(len(installation.world.ledger(order)) for order in good) == len(good)
    shown = installation.ikkai("operations", "list", "--state", "parked", "--json").document
    assert [row["key"] for row in shown] == [poison.key]
