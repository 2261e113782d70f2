"""Messages that nobody can take: kept where people look, and never in the way (reports B38, B52; traps 45, 46)."""

from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from entrypoints.supervisor import Process
from tests.adapters.dramatiq.raw_messages import message, push
from tests.e2e.installation import Installation, confirmed, running_installation, soon
from tests.entrypoints.sandbox.world import Parcel

_ORDER = Parcel("o-broken")
_TWICE = b'"points": 1, "points": 100'
_EVENT = {"event": confirmed(_ORDER)}

# What is sent, and a part of the reason that people will read.
BROKEN = {
    "not JSON": (b"points please", "is not JSON"),
    "not UTF-8": (b"\xff\xfe\x00", "is not UTF-8"),
    "nothing": (b"", "is not JSON"),
    "no message": (b'["orders.process_event"]', "a message is an object"),
    "no actor": (b'{"queue_name": "orders"}', "actor_name must be a str"),
    "a member too many": (message("orders", "orders.process_event", _EVENT, spice=1), "spice"),
    "a number twice": (
        message("orders", "orders.process_event", _EVENT).replace(b'"points": 100', _TWICE),
        "points: stands twice",
    ),
    "a name with NUL twice": (b'{"a\\u0000": 1, "a\\u0000": 2}', "stands twice"),
    "too deep": (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
    "an endless number": (b"9" * 5_000, "a number that is"),
    "not a number": (message("orders", "orders.process_event", {"event": float("nan")}), "not a JSON number"),
    "another queue": (message("points", "orders.process_event", _EVENT), "it names the queue 'points'"),
    "unknown actor": (message("orders", "orders.process_evnt", _EVENT), "orders.process_evnt"),
    "unknown actor with NUL": (message("orders", "orders.\0", _EVENT), "orders."),
    "unknown actor of half a pair": (message("orders", "orders.\ud800", _EVENT), "orders."),
    "by position": (message("orders", "orders.process_event", {}, args=[_EVENT["event"]]), "positional"),
    "nothing in it": (message("orders", "orders.process_event", {}), "event"),
    "id with NUL": (message("orders", "orders.process_event", {"event": confirmed(_ORDER, event_id="e\0")}), "U+0000"),
    "order id with NUL": (
        message("orders", "orders.process_event", {"event": confirmed(Parcel("A\0"), event_id="e-9")}),
        "order_id",
    ),
    "half a pair": (
        message("orders", "orders.process_event", {"event": confirmed(_ORDER, customer_id="\ud800")}),
        "customer_id",
    ),
    "no event": (message("orders", "orders.process_event", {"event": [1]}), "must be an object"),
}


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        yield installation


@pytest.fixture(scope="module")
def worker(installation: Installation) -> Process:
    return installation.start_worker(threads=2)


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_message_is_shown_once_with_its_reason(installation: Installation, worker: Process, kind: str) -> None:
    """It stands among the dead letters, once, as it came and with what is wrong with it; the queue goes on."""
    body, reason = BROKEN[kind]
    before = installation.dead_letters()
    with installation.redis() as client:
        push(client, "orders", body)
        push(client, "orders", message("orders", "orders.process_event", {"event": confirmed(good := Parcel())}))
    soon(lambda: installation.rows("SELECT subject FROM order_events WHERE subject = :it", it=good.order_id) != [])
    soon(lambda: installation.container.broker().do_qsize("orders") == 0)
    ((queue, why),) = installation.dead_letters()[len(before) :]
    assert queue == "orders"
    assert reason in why
    assert not worker.has_ended()


def test_a_delay_on_the_queue_itself_is_not_waited_for(installation: Installation, worker: Process) -> None:
    """Waiting, such messages would take up all that a worker holds at a time, and nobody else's would be done."""
    orders = [Parcel() for _ in range(10)]
    with installation.redis() as client:
        for order in orders:
            options = {"redis_message_id": "MESSAGE-ID", "eta": 9e15}
            content = {"event": confirmed(order)}
            push(client, "orders", message("orders", "orders.process_event", content, options=options))
    stored = "SELECT count(*) FROM order_events WHERE subject = ANY(:orders)"
    soon(lambda: installation.rows(stored, orders=[order.order_id for order in orders]) == [(len(orders),)])


def test_dead_letters_are_listed_by_the_command(installation: Installation, worker: Process) -> None:
    """Whoever looks sees each of them: queue, reason, and the message itself."""
    with installation.redis() as client:
        push(client, "orders", b"grants please")
    soon(lambda: "grants please" in installation.ikkai("events", "dead-letters", "--json").out)
    shown = installation.ikkai("events", "dead-letters", "--json").document
    assert [(row["queue"], row["reason"]) for row in reversed(shown)] == installation.dead_letters()
    assert shown[0]["body"] == "grants please"


def test_many_broken_messages_hold_up_no_good_one(installation: Installation, worker: Process) -> None:
    """All of them at once, good ones among them: every good one is stored, by the same worker."""
    good = [Parcel() for _ in BROKEN]
    with installation.redis() as client:
        for order, (body, _) in zip(good, BROKEN.values(), strict=True):
            push(client, "orders", body)
            push(client, "orders", message("orders", "orders.process_event", {"event": confirmed(order)}))
    stored = "SELECT count(*) FROM order_events WHERE subject = ANY(:orders)"
    soon(lambda: installation.rows(stored, orders=[order.order_id for order in good]) == [(len(good),)])
    assert not worker.has_ended()
