"""Which doorbells are rung and not yet heard: it spares the queue copies, and losing it costs nothing else."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from adapters.redis import rings
from adapters.redis.rings import RedisRings
from tests.entrypoints.sandbox.world import until

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def client(broker_url: str) -> Iterator["redis.Redis"]:
    with redis.Redis.from_url(broker_url) as client:
        yield client


def test_one_ring_until_it_is_heard(client: "redis.Redis") -> None:
    """Equal rings are spared while one is unheard; heard, the next goes out at once."""
    doorbells = RedisRings(client)
    assert [doorbells.first("order-event", 0) for _ in range(3)] == [True, False, False]
    doorbells.heard("order-event", 0)
    assert doorbells.first("order-event", 0)


def test_rings_of_other_kinds_and_places_are_their_own(client: "redis.Redis") -> None:
    """One worker called for each set of work, and for each kind of it."""
    doorbells = RedisRings(client)
    doorbells.first("order-event", 0)
    assert doorbells.first("order-event", 1)
    assert doorbells.first("shipment-request", 0)


def test_of_many_dispatchers_one_rings(client: "redis.Redis") -> None:
    """Eight at once: one of them is the first."""
    with ThreadPoolExecutor(8) as together:
        firsts = list(together.map(lambda _: RedisRings(client).first("order-event", 0), range(8)))
    assert firsts.count(True) == 1


def test_a_ring_that_nobody_hears_is_rung_again(client: "redis.Redis", monkeypatch: pytest.MonkeyPatch) -> None:
    """Its message may be lost: after a while it is rung once more, by itself."""
    monkeypatch.setattr(rings, "UNHEARD_MILLISECONDS", 100)
    doorbells = RedisRings(client)
    doorbells.first("order-event", 0)
    until(lambda: doorbells.first("order-event", 0))


def test_an_emptied_redis_rings_once_more(client: "redis.Redis") -> None:
    """A lock that is lost costs one message (report B54)."""
    doorbells = RedisRings(client)
    doorbells.first("order-event", 0)
    client.flushall()
    assert doorbells.first("order-event", 0)


def test_a_worker_that_cannot_say_it_heard_works_all_the_same() -> None:
    """The ring runs out by itself."""
    with redis.Redis.from_url(NOWHERE, retry=None) as nowhere:
        RedisRings(nowhere).heard("order-event", 0)
