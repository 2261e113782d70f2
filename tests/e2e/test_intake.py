"""From the intake to the effect: exactly for what was committed, whatever happens between (reports B35, B50)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from signal import SIGKILL

import httpx
import pytest
from pydantic import SecretStr

from application.dispatch import ORDER_EVENT
from application.orders import OrderBooks
from domain.operations import State
from domain.orders.events import read_event
from domain.shipping import REQUEST
from entrypoints.supervisor import Process
from tests.e2e.installation import Installation, confirmed, installation_on
from tests.e2e.outages import FragileServers
from tests.entrypoints.sandbox.world import Parcel

SECRET = "open-sesame"


@pytest.fixture(scope="module")
def installation(servers_to_lose: FragileServers) -> Iterator[Installation]:
    keys = SecretStr(f"shop=events:{SECRET}")
    with installation_on(servers_to_lose.urls, api_keys=keys) as installation:
        installation.start_worker()
        yield installation


@pytest.fixture
def shop(installation: Installation) -> Iterator[httpx.Client]:
    """The shop's end of `POST /v1/events`."""
    api = installation.start("entrypoints.api")
    headers = {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/cloudevents+json"}
    with httpx.Client(base_url=str(api.announced["url"]), headers=headers, timeout=30, trust_env=False) as client:
        yield client
    api.kill()


@pytest.fixture
def dispatcher(installation: Installation) -> Iterator[Process]:
    """A dispatcher that is there for one test."""
    dispatcher = installation.start_dispatcher()
    yield dispatcher
    dispatcher.kill()


def test_what_is_rolled_back_has_no_effect(installation: Installation, dispatcher: Process) -> None:
    """Stored, and its bell rung, in a transaction that failed: no worker ever hears of it (B50a)."""
    rolled_back, good = Parcel(), Parcel()
    now = installation.container.clock().now()
    with pytest.raises(ZeroDivisionError):
        installation.container.transactions().run(
            lambda books: [books.inbox.store_each([read_event(confirmed(rolled_back), now=now)]), 1 // 0]
        )
    installation.confirm(good)
    installation.wait_for(State.COMPLETED, good)
    assert installation.world.ledger(rolled_back) == []
    assert installation.rows("SELECT 1 FROM orders WHERE order_id = :order", order=rolled_back.order_id) == []


def test_committed_but_never_rung_is_done(installation: Installation, shop: httpx.Client) -> None:
    """Every process that could ring is killed right after the commit: the next dispatcher finds the event (B50b)."""
    order = Parcel()
    assert shop.post("/v1/events", json=confirmed(order)).json()["accepted"] == 1
    for process in installation.processes:
        if process.name in ("entrypoints.api", "entrypoints.dispatcher"):
            process.signal(SIGKILL)
    dispatcher = installation.start_dispatcher()
    installation.wait_for(State.COMPLETED, order)
    assert len(installation.world.ledger(order)) == 1
    dispatcher.kill()


def test_rung_for_and_lost_is_rung_for_again(installation: Installation) -> None:
    """A dispatcher killed between "this bell is mine" and ringing it delays the work by a few seconds (B50b)."""
    order = Parcel()
    for kind in (ORDER_EVENT, REQUEST):
        for slot in range(8):
            installation.container.rings().first(kind, slot)
    dispatcher = installation.start_dispatcher()
    installation.confirm(order)
    installation.wait_for(State.COMPLETED, order)
    dispatcher.kill()


def test_a_commit_that_takes_its_time(installation: Installation, dispatcher: Process) -> None:
    """Nothing happens before it, everything after it, although ids were given out long before (B50c, trap 26)."""
    late, meanwhile = Parcel(), Parcel()
    now = installation.container.clock().now()

    def store_and_wait(books: OrderBooks) -> None:
        books.inbox.store_each([read_event(confirmed(late), now=now)])
        with ThreadPoolExecutor(1) as beside:
            beside.submit(installation.confirm, meanwhile).result()
        installation.wait_for(State.COMPLETED, meanwhile)
        assert installation.world.ledger(late) == []

    installation.container.transactions().run(store_and_wait)
    installation.wait_for(State.COMPLETED, late)
    assert len(installation.world.ledger(late)) == 1
    assert installation.dead_letters() == []


def test_taken_in_while_redis_is_down(
    installation: Installation, dispatcher: Process, shop: httpx.Client, servers_to_lose: FragileServers
) -> None:
    """The answer is 202 and the event is stored; it is done when Redis is back, and nothing was pressed (B50d)."""
    order = Parcel()
    servers_to_lose.take_queue_away()
    try:
        answer = shop.post("/v1/events", json=confirmed(order))
        assert (answer.status_code, answer.json()["accepted"]) == (202, 1)
        assert installation.rows("SELECT state FROM order_events WHERE subject = :order", order=order.order_id)
    finally:
        servers_to_lose.bring_queue_back()
    installation.wait_for(State.COMPLETED, order)
    assert len(installation.world.ledger(order)) == 1
    assert not dispatcher.has_ended()


def test_the_same_event_by_every_door_at_once(
    installation: Installation, dispatcher: Process, shop: httpx.Client
) -> None:
    """Ten rounds of ten requests and some messages together: all answered 202, accepted once, one effect (B35)."""
    orders = [Parcel() for _ in range(10)]
    with ThreadPoolExecutor(10) as together:
        for order in orders:
            posts = [together.submit(shop.post, "/v1/events", json=confirmed(order)) for _ in range(10)]
            installation.send_event(order, copies=3)
            answers = [post.result() for post in posts]
            assert {answer.status_code for answer in answers} == {202}
            told = [(answer.json()["accepted"], answer.json()["duplicates"]) for answer in answers]
            assert set(told) <= {(1, 0), (0, 1)}
            assert told.count((1, 0)) <= 1
    installation.wait_for(State.COMPLETED, *orders)
    events = "SELECT count(*) FROM order_events WHERE subject = ANY(:orders)"
    assert installation.rows(events, orders=[order.order_id for order in orders]) == [(len(orders),)]
    assert [len(installation.world.ledger(order)) for order in orders] == [1] * len(orders)
    assert installation.dead_letters() == []
