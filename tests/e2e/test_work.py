"""Commands with nothing running: each starts the servers it needs, and leaves none behind (contract, section 1)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.installation import POINTS, confirmed, customer_of, soon
from tests.e2e.running_up import Home, temporary_home
from tests.entrypoints.sandbox.world import Parcel, World, running_world


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with temporary_home() as home:
        yield home


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with running_world("--no-carrier-keys") as world:
        yield world


def test_work_until_idle_says_when_a_person_is_needed(home: Home, world: World, tmp_path: Path) -> None:
    """Nothing to do: 0. All done but one of unknown fate: 3. Resolved by hand and done: 0. No server is left behind."""
    carrier = {
        "IKKAI_CARRIER_URL": world.url,
        "IKKAI_CARRIER_TOKEN": "token",
        "IKKAI_CARRIER_HONOURS_KEYS": "false",
    }
    work = ("work", "--workers", "1", "--until-idle")
    good, lost = Parcel(), Parcel()
    world.script("reset_before", match=lost.order_id)
    file = tmp_path / "events.ndjson"
    file.write_text("".join(f"{json.dumps(confirmed(order))}\n" for order in (good, lost)))
    assert home.ikkai("events", "import", str(file)).code == 0
    assert home.servers() == []
    soon(lambda: home.ikkai(*work, **carrier).code == 3)  # idle may come between two steps of the same order

    assert len(world.ledger(good)) == 1
    (waiting,) = home.type("operations", "list", "--state", "needs_confirmation", "--json").document
    assert waiting["key"] == lost.key
    decision = ("--did-not-happen", "--by", "mika", "--evidence", "asked by phone")
    assert home.type("operations", "resolve", lost.key, *decision).code == 0
    assert home.ikkai(*work, **carrier).code == 0
    assert len(world.ledger(lost)) == 1
    for order in (good, lost):
        assert home.type("points", "show", customer_of(order), "--json").document["balance"] == POINTS
    assert home.servers() == home.processes() == []
