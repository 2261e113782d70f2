"""How `ikkai up` ends: in order, or killed; nothing is left behind that hinders the next one."""

from collections.abc import Iterator
from signal import SIGKILL, SIGTERM

import pytest

from tests.e2e.installation import POINTS, confirmed, customer_of, soon
from tests.e2e.running_up import Home, running_up, temporary_home
from tests.entrypoints.sandbox.world import Parcel, until

# Orphans look for their parent once a second; a worker may finish a drain first.
ORPHAN_SECONDS = 15


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with temporary_home() as home:
        yield home


def test_ctrl_c_stops_everything_in_order(home: Home) -> None:
    """Every process hears of it at once: exit code 0, `runtime.json` gone, neither a process nor a server left."""
    with running_up(home) as up:
        assert up.press_ctrl_c() == 0
    assert home.runtime() == ""
    soon(lambda: home.processes() == home.servers() == [])


def test_killed_it_leaves_no_process_and_the_next_one_works(home: Home) -> None:
    """SIGKILL in the middle of work: workers, API and sandbox end by themselves; the next one does what was owed."""
    order, other = Parcel(), Parcel()
    with running_up(home) as up:
        assert len(home.processes()) >= 4
        up.world.script("silent_after", match=order.order_id)
        up.post_event(confirmed(order))
        soon(lambda: bool(up.world.seen(order)))
        up.end(SIGKILL)
    until(lambda: home.processes() == [], ORPHAN_SECONDS)

    with running_up(home) as up:
        up.post_event(confirmed(other))
        soon(lambda: len(up.world.ledger(other)) == 1)
        soon(lambda: len(up.world.ledger(order)) == 1)  # the outside world began anew as well
        shown = home.type("points", "show", customer_of(order), "--json").document
        assert shown["balance"] == POINTS
        assert up.end(SIGTERM) == 0
    assert home.runtime() == ""
    assert home.processes() == home.servers() == []


def test_killed_while_it_starts_it_leaves_no_process_either(home: Home) -> None:
    """Children that are still on their way when their parent dies notice as well."""
    with running_up(home, wait=False) as up:
        soon(lambda: len(home.processes()) >= 3)
        up.end(SIGKILL)
    until(lambda: home.processes() == [], ORPHAN_SECONDS)
