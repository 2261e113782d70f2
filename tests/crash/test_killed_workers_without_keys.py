"""SIGKILL at every boundary of a request, at a carrier that knows no keys: never asked twice (reports B40, B42)."""

import signal
from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.crash.strikes import SENT, strike
from tests.crash.worker import ANSWERED, CLAIMED, GATED, SETTLED
from tests.e2e.installation import Installation, running_installation
from tests.entrypoints.sandbox.world import Parcel

SURE = (CLAIMED, SENT, ANSWERED, SETTLED)  # never sent, or to be found at the carrier
GATED_AGAIN = "gated again"


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template, honours_keys=False) as installation:
        yield installation


@pytest.fixture(scope="module")
def orders(installation: Installation) -> dict[str, Parcel]:
    """An order for each point at which its worker was killed; by now a healthy worker is there."""
    points = {point: point for point in (GATED, *SURE)} | {GATED_AGAIN: GATED}
    orders = {name: strike(installation, point, signal.SIGKILL)[0] for name, point in points.items()}
    installation.start_dispatcher()
    installation.start_worker()
    return orders


@pytest.mark.parametrize("point", SURE)
def test_what_can_be_found_needs_no_person(installation: Installation, orders: dict[str, Parcel], point: str) -> None:
    """Surely never sent, or known to the carrier: completed by itself, after one request at most."""
    installation.wait_for(State.COMPLETED, orders[point])
    assert len(installation.world.ledger(orders[point])) == 1
    assert len(installation.world.seen(orders[point])) == 1


def test_found_by_look_up_is_told(installation: Installation, orders: dict[str, Parcel]) -> None:
    """Who asks why an order is booked learns that it was looked up, and whose decision that was."""
    for point in (SENT, ANSWERED):
        installation.wait_for(State.COMPLETED, orders[point])
        assert installation.story(orders[point])[-1] == "decided: completed found by look-up; look-up"


def test_a_person_says_that_it_did_not_happen(installation: Installation, orders: dict[str, Parcel]) -> None:
    """Marked as sent, not found: waits for a person, is not asked for again; "did not happen" makes it owed again."""
    order = orders[GATED]
    installation.wait_for(State.NEEDS_CONFIRMATION, order)
    assert installation.world.seen(order) == []
    assert installation.ikkai("operations", "retry", order.key).code == 1
    decision = ("--did-not-happen", "--by", "mika", "--evidence", "asked the carrier by phone")
    decided = installation.ikkai("operations", "resolve", order.key, *decision, "--json")
    assert (decided.code, decided.document["state"]) == (0, "ready")
    installation.wait_for(State.COMPLETED, order)
    assert len(installation.world.ledger(order)) == len(installation.world.seen(order)) == 1


def test_a_person_says_that_it_happened(installation: Installation, orders: dict[str, Parcel]) -> None:
    """ "It happened" settles it under the carrier's reference, with who says so and why, and nothing is sent."""
    order = orders[GATED_AGAIN]
    installation.wait_for(State.NEEDS_CONFIRMATION, order)
    decision = ("--happened", "P-77", "--by", "mika", "--evidence", "seen on the shelf")
    assert installation.ikkai("operations", "resolve", order.key, *decision).code == 0
    shown = installation.ikkai("shipments", "list", "--order", order.order_id, "--json").document
    assert [(row["state"], row["reference"]) for row in shown] == [("booked", "P-77")]
    assert installation.world.seen(order) == []
    assert installation.story(order)[-1] == "decided: completed confirmed by hand; seen on the shelf"
    assert installation.ikkai("operations", "resolve", order.key, *decision).code == 1
