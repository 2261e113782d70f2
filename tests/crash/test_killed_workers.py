"""SIGKILL at every boundary of a request, at a carrier that honours keys (reports B42, B51; traps 2, 9, 13)."""

import signal
from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.crash.strikes import SENT, strike
from tests.crash.worker import ANSWERED, CLAIMED, GATED, SETTLED
from tests.e2e.installation import REDELIVERED_SECONDS, Installation, running_installation
from tests.entrypoints.sandbox.world import Parcel, until

POINTS = (CLAIMED, GATED, SENT, ANSWERED, SETTLED)


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        yield installation


@pytest.fixture(scope="module")
def orders(installation: Installation) -> dict[str, Parcel]:
    """An order for each point at which its worker was killed; by now a healthy worker is there."""
    orders = {point: strike(installation, point, signal.SIGKILL)[0] for point in POINTS}
    installation.start_dispatcher()
    installation.start_worker()
    return orders


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_worker_costs_a_lease_and_no_parcel(
    installation: Installation, orders: dict[str, Parcel], point: str
) -> None:
    """Wherever the worker died: one parcel, asked for once, and the work is not "processing" for ever."""
    installation.wait_for(State.COMPLETED, orders[point])
    parcel = installation.world.ledger(orders[point])
    assert [row["reference"] for row in parcel] == [installation.operation(orders[point]).result["reference"]]
    assert len(installation.world.seen(orders[point])) == 1


def test_what_the_dead_left_behind_is_told(installation: Installation, orders: dict[str, Parcel]) -> None:
    """Each attempt that ended with its worker is in the order's story, with what it means."""
    installation.wait_for(State.COMPLETED, *orders.values())
    assert installation.story(orders[CLAIMED])[:2] == ["claimed", "ready its worker ended before sending"]
    for point in (GATED, SENT, ANSWERED):
        assert installation.story(orders[point])[:3] == ["claimed", "sent", "ready its worker ended after sending"]
    assert installation.story(orders[SETTLED]) == ["claimed", "sent", "completed"]


def test_messages_of_the_dead_come_back_and_change_nothing(
    installation: Installation, orders: dict[str, Parcel]
) -> None:
    """A message whose worker died before acknowledging it is delivered again, finds its work done, and is gone."""
    until(lambda: installation.container.broker().do_qsize("shipping") == 0, REDELIVERED_SECONDS)
    assert installation.dead_letters() == []
    installation.assert_done_once(list(orders.values()))
