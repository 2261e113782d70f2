"""Commands with nothing running: each starts the servers it needs, and leaves none behind (contract, section 1)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.installation import POINTS, confirmed, customer_of, soon
from tests.e2e.running_up import Home, temporary_home
from tests.entrypoints.sandbox.paying import Bill
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


def test_a_month_is_billed_with_nothing_running(home: Home, world: World, tmp_path: Path) -> None:
    """The command starts the database, charges by itself and stops it again; typed again it finds all done."""
    stripe = {"IKKAI_STRIPE_API_BASE": world.url, "IKKAI_STRIPE_API_KEY": "sk_test_1"}
    bill = Bill(month="2026-09")
    customers, plans = tmp_path / "customers.ndjson", tmp_path / "plans.ndjson"
    customers.write_text(json.dumps({"customer_id": bill.customer_id, "payment_method": "pm_card_visa"}))
    plan = {"plan": "box", "price": 980, "currency": "JPY", "tax_rate": "10", "tax_included": True}
    whose = {"subscription_id": "s-1", "customer_id": bill.customer_id, "start": "2026-09-01"}
    plans.write_text(json.dumps(plan | whose))
    for what, file in (("customers", customers), ("subscriptions", plans)):
        assert home.type(what, "import", str(file)).code == 0
    for created in (1, 0):
        finished = home.ikkai("billing", "run", bill.month, "--json", **stripe)
        assert (finished.code, finished.document["created"], finished.document["charged"]) == (0, created, 1)
    (charge,) = world.http.get("/_ledger").json()["charges"]
    assert (charge["key"], charge["amount"]) == (bill.key, 980)
    assert home.servers() == home.processes() == []
