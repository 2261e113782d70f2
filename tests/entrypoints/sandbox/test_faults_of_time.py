"""Faults of time: the work is promised or still running, and done a little later."""

import pytest

from tests.entrypoints.sandbox.world import Parcel, World, until


def _command(world: World, command_id: str) -> dict[str, object]:
    command: dict[str, object] = world.http.get(f"/shipment-commands/{command_id}").raise_for_status().json()
    return command


def test_an_accepted_booking_is_done_by_itself(world: World, parcel: Parcel) -> None:
    """202 promises one booking: polled and looked up it is in progress first, then done."""
    world.script("status_202_2", parcel.order_id)
    answer = world.book(parcel)
    accepted = answer.json()
    assert answer.status_code == 202
    assert accepted == {
        "command_id": accepted["command_id"],
        "client_reference": parcel.key,
        "order_id": parcel.order_id,
        "status": "in_progress",
    }
    waiting = {"command_id": accepted["command_id"], "status": "in_progress", "shipment": None}
    assert _command(world, accepted["command_id"]) == waiting
    assert world.ledger(parcel) == []
    running = {
        "reference": None,
        "client_reference": parcel.key,
        "order_id": parcel.order_id,
        "status": "in_progress",
    }
    assert world.found(parcel) == [running]

    until(lambda: _command(world, accepted["command_id"])["status"] == "done")
    assert world.found(parcel) == [_command(world, accepted["command_id"])["shipment"]]
    assert len(world.ledger(parcel)) == 1


def test_an_acceptance_takes_about_a_second(world: World, parcel: Parcel) -> None:
    """Without a number of seconds the promise is kept soon."""
    world.script("status_202", parcel.order_id)
    assert world.book(parcel).status_code == 202
    until(lambda: len(world.ledger(parcel)) == 1)


def test_an_accepted_booking_is_promised_once(world: World, parcel: Parcel) -> None:
    """The same key gets the same promise, before and after it was kept."""
    world.script("status_202_0.2", parcel.order_id)
    first = world.book(parcel)
    assert world.book(parcel).content == first.content
    until(lambda: len(world.ledger(parcel)) == 1)
    assert world.book(parcel).content == first.content
    assert len(world.ledger(parcel)) == 1


def test_an_acceptance_may_take_long(world: World, parcel: Parcel) -> None:
    """The scripted number of seconds is how long the promise stays open."""
    world.script("status_202_600", parcel.order_id)
    command_id = world.book(parcel).json()["command_id"]
    world.script("status_202_0", parcel.order_id)
    other = Parcel(parcel.order_id + "-b")
    world.book(other)
    until(lambda: len(world.ledger(other)) == 1)
    assert _command(world, command_id)["status"] == "in_progress"


def test_without_keys_each_acceptance_books(keyless_world: World, parcel: Parcel) -> None:
    """Who posts again in place of polling gets two parcels."""
    keyless_world.script("status_202_0.1", parcel.order_id, times=2)
    commands = {keyless_world.book(parcel).json()["command_id"] for _ in range(2)}
    assert len(commands) == 2
    until(lambda: len(keyless_world.ledger(parcel)) == 2)
    assert [row["status"] for row in keyless_world.found(parcel)] == ["booked", "booked"]


def test_a_cancellation_may_be_accepted_and_fail(world: World, parcel: Parcel) -> None:
    """A promise is not a result: what left meanwhile is not called back."""
    reference = world.booked(parcel)["reference"]
    world.script("status_202", parcel.cancel_key)
    command_id = world.cancel(parcel, reference).json()["command_id"]
    world.http.post(f"/_shipments/{reference}/leave")
    until(lambda: _command(world, command_id)["status"] == "failed")
    assert world.ledger(parcel)[0]["status"] == "left"


def test_in_progress_is_no_lie(world: World, parcel: Parcel) -> None:
    """While the work runs nothing is booked yet, and a second request with the key is told to wait by the key alone."""
    world.script("in_progress", parcel.order_id)
    assert [world.book(parcel).status_code for _ in range(2)] == [409, 409]
    assert [row["fault"] for row in world.seen(parcel)] == ["in_progress", None]
    until(lambda: len(world.ledger(parcel)) == 1)


@pytest.mark.parametrize("times", [1, 3])
def test_in_progress_is_done_in_the_background(world: World, parcel: Parcel, times: int) -> None:
    """409 while the work of the first request runs; then the same key gets its answer."""
    world.script("in_progress", parcel.order_id, times=times)
    for _ in range(times):
        answer = world.book(parcel)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "in_progress")
    until(lambda: world.book(parcel).status_code == 201)
    assert world.booked(parcel)["reference"] == world.ledger(parcel)[0]["reference"]
    assert len(world.ledger(parcel)) == 1
