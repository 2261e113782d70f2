"""SIGKILL at every boundary of a request, at providers that honour keys (reports B25, B42, B51; traps 2, 9, 13)."""

import signal
from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.crash.strikes import CHARGE, PARCEL, REFUND, SENT, Errand, of_each_kind, strike
from tests.crash.worker import ANSWERED, CLAIMED, GATED, HANDED_OVER, SETTLED
from tests.e2e.installation import REDELIVERED_SECONDS, Installation, running_installation
from tests.entrypoints.sandbox.world import until

POINTS = (SENT, CLAIMED, GATED, HANDED_OVER, ANSWERED, SETTLED)


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        yield installation


@pytest.fixture(scope="module")
def errands(installation: Installation) -> dict[str, dict[str, Errand]]:
    """One of each kind for each point at which its worker was killed; by now a healthy worker is there."""
    errands = {point: of_each_kind(installation) for point in POINTS}
    for point, of_kinds in errands.items():
        strike(installation, list(of_kinds.values()), point, signal.SIGKILL)
    installation.start_dispatcher()
    installation.start_worker(threads=4)
    return errands


@pytest.mark.parametrize("kind", [PARCEL, CHARGE, REFUND])
@pytest.mark.parametrize("point", POINTS)
def test_a_killed_worker_costs_a_lease_and_nothing_else(
    installation: Installation, errands: dict[str, dict[str, Errand]], point: str, kind: str
) -> None:
    """Wherever the worker died: done once, asked for once, and the work is not "processing" for ever."""
    errand = errands[point][kind]
    installation.wait_for(State.COMPLETED, errand)
    done = errand.done(installation)
    assert [row["reference"] for row in done] == [installation.operation(errand).result["reference"]]
    assert len(errand.asked(installation)) == 1


@pytest.mark.parametrize("kind", [PARCEL, CHARGE, REFUND])
def test_what_the_dead_left_behind_is_told(
    installation: Installation, errands: dict[str, dict[str, Errand]], kind: str
) -> None:
    """Each attempt that ended with its worker is in the story, with what it means."""
    of_points = {point: of_kinds[kind] for point, of_kinds in errands.items()}
    installation.wait_for(State.COMPLETED, *of_points.values())
    assert installation.story(of_points[CLAIMED])[:2] == ["claimed", "ready its worker ended before sending"]
    for point in (GATED, HANDED_OVER, SENT, ANSWERED):
        assert installation.story(of_points[point])[:3] == ["claimed", "sent", "ready its worker ended after sending"]
    assert installation.story(of_points[SETTLED]) == ["claimed", "sent", "completed"]


def test_messages_of_the_dead_come_back_and_change_nothing(
    installation: Installation, errands: dict[str, dict[str, Errand]]
) -> None:
    """A message whose worker died before acknowledging it is delivered again, finds its work done, and is gone."""
    queues = ("shipping", "billing", "payments")
    until(lambda: not any(map(installation.container.broker().do_qsize, queues)), REDELIVERED_SECONDS)
    assert installation.dead_letters() == []
    for of_kinds in errands.values():
        for errand in of_kinds.values():
            assert len(errand.done(installation)) == len(errand.asked(installation)) == 1
