"""A COMMIT that happened and was not answered, at every step of a charge and of a refund (reports B26, B27; trap 6)."""

from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.crash.lossy_database import LossyDatabase
from tests.crash.strikes import Errand, charge, refund
from tests.e2e.installation import Installation, running_installation

# What the transactions say that are to be committed unheard; the errand's key or customer is said with it.
STEPS = {
    "bill": "INSERT INTO bills",
    "refund": "INSERT INTO refunds",
    "claim": "oldest AS (",
    "gate": "open AS (",
    "settlement": "held AS (",
}


@pytest.fixture(params=[True, False], ids=["with keys", "without keys"])
def installation(servers: ServerUrls, template: str, request: pytest.FixtureRequest) -> Iterator[Installation]:
    with running_installation(servers, template, honours_keys=request.param) as installation:
        yield installation


def test_what_was_committed_unheard_is_read_back(installation: Installation) -> None:
    """The same attempt goes on: asked for once, done once; where it was throttled, it is not taken for sent."""
    with LossyDatabase(str(installation.settings.database_url)) as line:
        errands = {name: charge(installation) for name in ("bill", "claim", "gate", "settlement")}
        errands |= {f"{name} of a refund": refund(installation) for name in ("refund", "claim", "gate", "settlement")}
        for name, errand in errands.items():
            step = name.partition(" ")[0]
            line.lose_commit(name, STEPS[step], errand.subject if step in ("bill", "refund") else errand.key)
        throttled = charge(installation)
        installation.script("charges", "status_429", match=throttled.subject)
        line.lose_commit("throttled", STEPS["gate"], throttled.key)

        installation.start("entrypoints.worker", "--threads", "2", IKKAI_DATABASE_URL=line.url)
        for errand in (*errands.values(), throttled):
            installation.send(errand.actor, dict(errand.content))
        installation.wait_for(State.COMPLETED, *errands.values())
        assert line.lost >= errands.keys()
        for name, errand in errands.items():
            operation = installation.operation(errand)
            assert (name, operation.epoch, operation.attempts) == (name, 1, 1)
            assert installation.story(errand) == ["claimed", "sent", "completed"]
            _assert_once(installation, errand, asked=1)

        installation.start_dispatcher()
        installation.wait_for(State.COMPLETED, throttled)
        assert "throttled" in line.lost
        _assert_once(installation, throttled, asked=2)
    assert installation.dead_letters() == []


def _assert_once(installation: Installation, errand: Errand, *, asked: int) -> None:
    assert len(errand.done(installation)) == 1
    assert len(errand.asked(installation)) == asked
