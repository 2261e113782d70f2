"""The demonstration keeps its promise, and touches nothing that is configured (contract, section 1)."""

import os

from tests.e2e.commands import ikkai

EVENTS = 200
PAYING = 48  # of 50 customers: every 25th card is declined
REFUNDED = 5  # every tenth of them


def test_the_demo_shows_each_effect_once() -> None:
    """Doubled deliveries, killed workers, faulty providers: nothing twice, nothing lost, whatever is configured."""
    configured = {
        "IKKAI_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nowhere",
        "IKKAI_BROKER_URL": "redis://127.0.0.1:1/0",
        "IKKAI_CARRIER_URL": "http://127.0.0.1:1",
        "IKKAI_STRIPE_API_BASE": "http://127.0.0.1:1",
        "IKKAI_STRIPE_API_KEY": "sk_live_never",
        "IKKAI_MAX_ATTEMPTS": "1",
    }
    finished = ikkai("demo", "--events", str(EVENTS), "--json", environment=os.environ | configured)
    assert finished.code == 0, finished.err
    shown = finished.document
    assert set(shown) == {"effects", "killed_workers", "seconds"}
    assert shown["killed_workers"] == 2
    owed = {"points granted": EVENTS, "parcels requested": EVENTS, "bills charged": PAYING, "refunds sent": REFUNDED}
    assert {effect["effect"]: effect["owed"] for effect in shown["effects"]} == owed
    for effect in shown["effects"]:
        assert set(effect) == {"effect", "delivered", "owed", "done", "twice", "lost"}
        assert (effect["done"], effect["twice"], effect["lost"]) == (effect["owed"], 0, 0)
        assert effect["delivered"] > effect["owed"]
