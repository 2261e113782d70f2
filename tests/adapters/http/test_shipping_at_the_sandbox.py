"""The gateway against the sandbox carrier, counted by the sandbox's own ledger of what really happened."""

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from adapters.http.shipping import HttpShippingGateway
from domain.operations import Answer, Finding, Outcome
from tests.adapters.http.conftest import OpenGateway
from tests.adapters.http.parcels import cancel, parcel

_numbers = itertools.count(1)


@pytest.fixture
def gateway(gateway_to: OpenGateway, sandbox_url: str) -> HttpShippingGateway:
    """A gateway to the sandbox."""
    return gateway_to(sandbox_url)


@pytest.fixture
def order_id() -> str:
    """An order that no other test has."""
    return f"注文 {next(_numbers)}/x?"


@pytest.fixture
def world(sandbox_url: str) -> Iterator[httpx.Client]:
    """The sandbox as seen from above, without faults before and after."""
    with httpx.Client(base_url=sandbox_url) as client:
        yield client
        client.delete("/_faults")


def script(world: httpx.Client, order_id: str, fault: str, times: int = 1) -> None:
    """The next requests for this order go wrong like that."""
    wish = {"target": "shipments", "match": order_id, "fault": fault, "times": times}
    world.post("/_faults", json=wish).raise_for_status()


def ledger(world: httpx.Client, order_id: str) -> list[dict[str, Any]]:
    """The order's parcels that really exist."""
    shipments: list[dict[str, Any]] = world.get("/_ledger", params={"order_id": order_id}).json()["shipments"]
    return shipments


def test_a_parcel_is_asked_for_found_and_stopped(
    gateway: HttpShippingGateway, world: httpx.Client, order_id: str
) -> None:
    """The whole life of one parcel."""
    (before,) = gateway.look_up_each([parcel(order_id)])
    (booked,) = gateway.request_each([parcel(order_id)])
    (found,) = gateway.look_up_each([parcel(order_id)])
    (not_stopped,) = gateway.look_up_cancelled_each([cancel(order_id)])
    (stopped,) = gateway.cancel_each([cancel(order_id)])
    (found_stopped,) = gateway.look_up_cancelled_each([cancel(order_id)])
    assert before.finding is Finding.NOT_FOUND
    assert booked.outcome is Outcome.DONE
    assert (found.finding, found.result) == (Finding.FOUND, booked.result)
    assert not_stopped.finding is Finding.NOT_FOUND
    assert (stopped.outcome, stopped.result) == (Outcome.DONE, booked.result)
    assert (found_stopped.finding, found_stopped.result) == (Finding.FOUND, booked.result)
    (row,) = ledger(world, order_id)
    assert (row["reference"], row["status"]) == (booked.result["reference"], "cancelled")


def test_each_is_done_once_however_often_it_is_asked(
    gateway: HttpShippingGateway, world: httpx.Client, order_id: str
) -> None:
    """Keys are honoured: the same answer again, one parcel, one cancellation."""
    first, second = (gateway.request_each([parcel(order_id)]) for _ in range(2))
    assert first == second
    stopped, again = (gateway.cancel_each([cancel(order_id)]) for _ in range(2))
    assert stopped == again
    assert len(ledger(world, order_id)) == 1


def test_two_parcels_of_one_order_are_two(gateway: HttpShippingGateway, world: httpx.Client, order_id: str) -> None:
    """Report B40: a split order has two bookings, each found by its own key."""
    two = [parcel(order_id, 1), parcel(order_id, 2)]
    references = [booked.result["reference"] for booked in gateway.request_each(two)]
    assert [found.result["reference"] for found in gateway.look_up_each(two)] == references
    assert sorted(row["reference"] for row in ledger(world, order_id)) == sorted(references)
    gateway.cancel_each([cancel(order_id, 2)])
    assert [found.finding for found in gateway.look_up_cancelled_each([cancel(order_id, 1), cancel(order_id, 2)])] == [
        Finding.NOT_FOUND,
        Finding.FOUND,
    ]


def test_the_same_key_with_another_body_is_for_a_person(gateway: HttpShippingGateway, order_id: str) -> None:
    """The carrier refuses it, and so nothing is replayed."""
    asked = parcel(order_id)
    gateway.request_each([asked])
    (answered,) = gateway.request_each([replace(asked, request=asked.request.replace("JP", "US"))])
    assert answered.outcome is Outcome.FLAGGED


def test_a_parcel_that_has_left_cannot_be_stopped(
    gateway: HttpShippingGateway, world: httpx.Client, order_id: str
) -> None:
    """Too late: a person must know."""
    (booked,) = gateway.request_each([parcel(order_id)])
    world.post(f"/_shipments/{booked.result['reference']}/leave").raise_for_status()
    assert gateway.cancel_each([cancel(order_id)]) == [Answer(Outcome.FLAGGED, "too late: the parcel has left")]
    assert gateway.look_up_each([parcel(order_id)])[0].finding is Finding.FOUND


def test_a_parcel_nobody_asked_for_cannot_be_stopped(gateway: HttpShippingGateway, order_id: str) -> None:
    """The carrier does not know it."""
    (answered,) = gateway.cancel_each([cancel(order_id)])
    assert answered == Answer(Outcome.FLAGGED, "the carrier does not know this parcel")


def test_an_accepted_parcel_is_polled_until_it_is_booked(
    gateway: HttpShippingGateway, world: httpx.Client, order_id: str
) -> None:
    """Report B40: by its command, and by its key where the command was lost; never by a second POST."""
    script(world, order_id, "status_202_1")
    (accepted,) = gateway.request_each([parcel(order_id)])
    assert (accepted.outcome, list(accepted.result)) == (Outcome.RUNNING, ["command_id"])
    by_key, by_command = parcel(order_id), parcel(order_id, command_id=accepted.result["command_id"])
    assert {found.finding for found in gateway.look_up_each([by_key, by_command])} == {Finding.RUNNING}
    end = time.monotonic() + 20
    while gateway.look_up_each([by_command])[0].finding is Finding.RUNNING and time.monotonic() < end:
        time.sleep(0.1)
    found, also_found = gateway.look_up_each([by_key, by_command])
    assert found == also_found
    assert found.finding is Finding.FOUND
    assert [row["reference"] for row in ledger(world, order_id)] == [found.result["reference"]]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("reset_before", (Outcome.UNKNOWN, 0)),
        ("reset_after", (Outcome.UNKNOWN, 1)),
        ("close_after", (Outcome.UNKNOWN, 1)),
        ("silent_after", (Outcome.UNKNOWN, 1)),
        ("slow", (Outcome.UNKNOWN, 1)),
        ("html", (Outcome.UNKNOWN, 1)),
        ("cut_json", (Outcome.UNKNOWN, 1)),
        ("bom", (Outcome.UNKNOWN, 1)),
        ("body_{}", (Outcome.UNKNOWN, 1)),
        ("status_204_after", (Outcome.UNKNOWN, 1)),
        ("redirect_307", (Outcome.UNKNOWN, 0)),
        ("status_408", (Outcome.UNKNOWN, 0)),
        ("wrong_order", (Outcome.FLAGGED, 1)),
        ("maintenance", (Outcome.UNAVAILABLE, 1)),
        ("status_502_after", (Outcome.UNAVAILABLE, 1)),
        ("retry_after_60", (Outcome.THROTTLED, 0)),
        ("status_401", (Outcome.NOT_SENT, 0)),
        ("status_400", (Outcome.REFUSED, 0)),
    ],
)
def test_after_every_fault_the_same_key_books_the_parcel_once(
    gateway_to: OpenGateway, world: httpx.Client, order_id: str, fault: str, expected: tuple[Outcome, int]
) -> None:
    """Reports B42 and B44: the outcome says what we know, the look-up what happened, and a repeat completes it."""
    outcome, count = expected
    script(world, order_id, fault)
    (answered,) = gateway_to(str(world.base_url), deadline_seconds=2.0).request_each([parcel(order_id)])
    assert (answered.outcome, answered.result) == (outcome, {})
    assert len(ledger(world, order_id)) == count
    gateway = gateway_to(str(world.base_url))
    (found,) = gateway.look_up_each([parcel(order_id)])
    assert found.finding is (Finding.FOUND if count else Finding.NOT_FOUND)
    (again,) = gateway.request_each([parcel(order_id)])
    assert again.outcome is Outcome.DONE
    assert [row["reference"] for row in ledger(world, order_id)] == [again.result["reference"]]


def test_our_own_earlier_request_is_waited_for(
    gateway: HttpShippingGateway, world: httpx.Client, order_id: str
) -> None:
    """409 in progress, and booked once in the end."""
    script(world, order_id, "in_progress")
    (answered,) = gateway.request_each([parcel(order_id)])
    assert answered.outcome is Outcome.RUNNING
    end = time.monotonic() + 20
    while gateway.request_each([parcel(order_id)])[0].outcome is Outcome.RUNNING and time.monotonic() < end:
        time.sleep(0.1)
    assert gateway.request_each([parcel(order_id)])[0].outcome is Outcome.DONE
    assert len(ledger(world, order_id)) == 1


def test_slow_orders_do_not_hold_up_healthy_ones(gateway_to: OpenGateway, world: httpx.Client, order_id: str) -> None:
    """Report B52: 16 orders, dripping answers: all end by the deadline; what comes after is booked at once."""
    script(world, order_id, "slow", times=8)
    slow = gateway_to(str(world.base_url), deadline_seconds=1.0)
    answers = slow.request_each([parcel(order_id, number) for number in range(1, 17)])
    assert Counter(answered.outcome for answered in answers) == {Outcome.UNKNOWN: 8, Outcome.NOT_SENT: 8}
    healthy = gateway_to(str(world.base_url)).request_each([parcel(order_id, number) for number in range(17, 21)])
    assert [answered.outcome for answered in healthy] == [Outcome.DONE] * 4
    assert Counter(row["status"] for row in ledger(world, order_id)) == {"booked": 12}
