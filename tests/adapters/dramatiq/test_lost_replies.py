"""A line to Redis that breaks in the middle of a command: nothing is withheld for ever (traps 36, 37, 53)."""

from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.adapters.dramatiq.unreliable_line import UnreliableLine
from tests.e2e.installation import REDELIVERED_SECONDS, Installation, running_installation, soon
from tests.entrypoints.sandbox.world import Parcel, until


@pytest.fixture
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        yield installation


@pytest.fixture
def line(installation: Installation) -> Iterator[UnreliableLine]:
    with UnreliableLine(str(installation.settings.broker_url)) as line:
        yield line


def test_a_message_whose_fetch_was_never_answered_is_done_in_the_end(
    installation: Installation, line: UnreliableLine
) -> None:
    """Taken from the queue and lost on the way: it comes back with the heartbeat, to the same process."""
    order, elsewhere = Parcel(), Parcel()
    line.lose_reply(order.order_id.encode())
    worker = installation.start("entrypoints.worker", "--threads", "2", IKKAI_BROKER_URL=line.url)
    installation.send_event(order)
    soon(lambda: line.lost == [order.order_id.encode()])
    installation.send_event(elsewhere)
    _wait_until_stored(installation, elsewhere, order)
    assert not worker.has_ended()


def _wait_until_stored(installation: Installation, *orders: Parcel) -> None:
    stored = "SELECT count(*) FROM order_events WHERE subject = ANY(:orders)"
    ids = [order.order_id for order in orders]
    until(lambda: installation.rows(stored, orders=ids) == [(len(ids),)], REDELIVERED_SECONDS)


def test_a_message_whose_acknowledgement_was_lost_changes_nothing(
    installation: Installation, line: UnreliableLine
) -> None:
    """It is acknowledged again, or comes again: the event is stored once, and the queue is empty in the end."""
    order = Parcel()
    line.lose_request(b"\r\nack\r\n")
    worker = installation.start("entrypoints.worker", "--threads", "2", IKKAI_BROKER_URL=line.url)
    installation.send_event(order)
    _wait_until_stored(installation, order)
    until(lambda: installation.container.broker().do_qsize("orders") == 0, REDELIVERED_SECONDS)
    assert line.lost == [b"\r\nack\r\n"]
    assert installation.dead_letters() == []
    assert not worker.has_ended()


def test_delayed_messages_outlive_a_broken_line(installation: Installation, line: UnreliableLine) -> None:
    """Redis gone for two seconds just as the first delay ends: every delayed message is done, by the same worker."""
    orders = [Parcel() for _ in range(5)]
    worker = installation.start("entrypoints.worker", "--threads", "2", IKKAI_BROKER_URL=line.url)
    line.lose_request(b"\r\nenqueue\r\n", away_seconds=2.0)
    for milliseconds, order in enumerate(orders, 1_000):
        installation.send_event(order, delay_milliseconds=milliseconds)
    _wait_until_stored(installation, *orders)
    assert line.lost == [b"\r\nenqueue\r\n"]
    assert not worker.has_ended()


def test_a_delayed_message_copied_and_not_acknowledged_is_one_effect(
    installation: Installation, line: UnreliableLine
) -> None:
    """Killed between putting it on its queue and taking it off the delayed ones: both are done, to one effect (B51)."""
    order = Parcel()
    line.lose_request(b"\r\nack\r\n", away_seconds=60.0)
    worker = installation.start("entrypoints.worker", "--threads", "2", IKKAI_BROKER_URL=line.url)
    installation.send_event(order, delay_milliseconds=500)
    soon(lambda: line.lost == [b"\r\nack\r\n"])
    worker.kill()
    assert installation.container.broker().do_qsize("orders") == 2
    installation.start_worker()
    _wait_until_stored(installation, order)
    until(lambda: installation.container.broker().do_qsize("orders") == 0, REDELIVERED_SECONDS)
    assert installation.dead_letters() == []


def test_rings_on_a_broken_line_are_rung_again(installation: Installation, line: UnreliableLine) -> None:
    """The dispatcher that cannot ring goes on: the work is done as soon as it can."""
    order = Parcel()
    installation.start_worker()
    dispatcher = installation.start("entrypoints.dispatcher", IKKAI_BROKER_URL=line.url)
    line.lose_request(b"\r\nenqueue\r\n", away_seconds=2.0)
    installation.confirm(order)
    installation.wait_for(State.COMPLETED, order)
    assert line.lost == [b"\r\nenqueue\r\n"]
    assert not dispatcher.has_ended()
