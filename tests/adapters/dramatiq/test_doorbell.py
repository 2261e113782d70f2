"""Ringing for due work: one small message each, and an absent queue is said to be absent (design, law 1)."""

from collections.abc import Iterator

import pytest

from adapters.dramatiq.broker import SafeRedisBroker, open_broker, open_client
from adapters.dramatiq.doorbell import DramatiqDoorbell
from domain.errors import Unavailable
from tests.adapters.dramatiq.unreliable_line import UnreliableLine

ACTORS = {"order-event": "orders.apply_due_events", "shipment-request": "shipping.request_due_shipments"}
NOWHERE = "redis://127.0.0.1:1/0"


def nothing_to_keep(queue: str, body: bytes, reason: str) -> None:
    raise AssertionError(f"{queue}: {reason}")


def broker_at(url: str) -> SafeRedisBroker:
    broker = open_broker(open_client(url), nothing_to_keep, heartbeat_seconds=5)
    assert isinstance(broker, SafeRedisBroker)
    return broker


@pytest.fixture
def broker(broker_url: str) -> Iterator[SafeRedisBroker]:
    broker = broker_at(broker_url)
    yield broker
    broker.client.close()


def test_a_ring_is_a_message_on_the_queue_of_its_context(broker: SafeRedisBroker) -> None:
    """As many as there are sets of work, each on the queue whose workers know it."""
    DramatiqDoorbell(broker, ACTORS, lambda kind, slot: True).ring("order-event", 3)
    assert broker.do_qsize("orders") == 3
    assert broker.do_qsize("shipping") == 0


def test_what_is_still_unheard_is_not_rung_again(broker: SafeRedisBroker) -> None:
    """Only the places that nobody has rung for yet."""
    DramatiqDoorbell(broker, ACTORS, lambda kind, slot: slot == 1).ring("shipment-request", 3)
    assert broker.do_qsize("shipping") == 1


def test_a_queue_that_is_away_is_unavailable() -> None:
    """The dispatcher hears of it in words that it knows, and goes on."""
    broker = broker_at(NOWHERE)
    with pytest.raises(Unavailable, match="the queue did not answer"):
        DramatiqDoorbell(broker, ACTORS, lambda kind, slot: True).ring("order-event", 1)


def test_a_command_whose_answer_was_lost_is_not_repeated(broker_url: str, broker: SafeRedisBroker) -> None:
    """The client would do so by itself, and a repeated enqueue is a second message (trap 37)."""
    with UnreliableLine(broker_url) as line:
        away = broker_at(line.url)
        doorbell = DramatiqDoorbell(away, ACTORS, lambda kind, slot: True)
        doorbell.ring("order-event", 1)
        line.lose_reply(b"")
        with pytest.raises(Unavailable):
            doorbell.ring("order-event", 1)
        away.client.close()
    assert broker.do_qsize("orders") == 2


@pytest.mark.parametrize("url", ["amqp://localhost", "localhost:6379", "http://localhost"])
def test_only_redis_is_taken_for_redis(url: str) -> None:
    """Whoever configures another queue is told at once."""
    with pytest.raises(ValueError, match="redis://"):
        open_client(url)
