"""The demonstration keeps its promise, and touches nothing that is configured (contract, section 1)."""

import os

from tests.e2e.commands import ikkai

EVENTS = 200


def test_the_demo_shows_each_effect_once() -> None:
    """Doubled deliveries, a killed worker, a faulty carrier: nothing twice, nothing lost, whatever is configured."""
    configured = {
        "IKKAI_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nowhere",
        "IKKAI_BROKER_URL": "redis://127.0.0.1:1/0",
        "IKKAI_CARRIER_URL": "http://127.0.0.1:1",
        "IKKAI_MAX_ATTEMPTS": "1",
    }
    finished = ikkai("demo", "--events", str(EVENTS), "--json", environment=os.environ | configured)
    assert finished.code == 0, finished.err
    shown = finished.document
    assert set(shown) == {"effects", "killed_workers", "seconds"}
    assert shown["killed_workers"] == 1
    assert {effect["effect"] for effect in shown["effects"]} >= {"points granted", "parcels requested"}
    for effect in shown["effects"]:
        assert set(effect) == {"effect", "delivered", "owed", "done", "twice", "lost"}
        assert (effect["owed"], effect["done"], effect["twice"], effect["lost"]) == (EVENTS, EVENTS, 0, 0)
        assert effect["delivered"] > EVENTS
