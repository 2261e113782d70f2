"""A carrier that breaks off, talks nonsense or hesitates: one parcel, or a person asked (B40, B42, B44, B45)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.e2e.commands import ikkai
from tests.e2e.installation import Installation, running_installation, soon
from tests.entrypoints.sandbox.world import Parcel

# The carrier did it, and did not say so in a way that can be believed.
DONE_BUT_NOT_SAID = (
    "reset_after",
    "silent_after",
    "close_after",
    "slow",
    "status_204_after",
    "status_500_after",
    "status_502_after",
    "maintenance",
    "html",
    "cut_json",
    "bom",
    "body_{}",
    "body_[]",
    'body_{"error":"busy"}',
    'body_{"reference":null,"status":"booked"}',
    "status_202_1",
)
# Done, and said of another order: something is mixed up, and no look-up may paper over it.
MIXED_UP = ("wrong_order",)
NOT_DONE_AND_NOT_SAID = ("reset_before", "status_500", "redirect_307")
# Our own earlier request still runs: the same key waits for it, as often as it takes.
STILL_RUNNING = ("in_progress",)
NOT_TAKEN = ("retry_after_1", "retry_after_soon", "retry_after_999999999", "status_429")


@pytest.fixture(params=[True, False], ids=["with keys", "without keys"])
def installation(servers: ServerUrls, template: str, request: pytest.FixtureRequest) -> Iterator[Installation]:
    with running_installation(servers, template, honours_keys=request.param) as installation:
        installation.start_dispatcher()
        installation.start_worker()
        yield installation


def test_every_fault_ends_with_one_parcel_or_with_a_person(installation: Installation) -> None:
    """Where keys count, all end booked; elsewhere nothing is asked for twice, and what was not found is flagged."""
    by_keys = installation.settings.carrier_honours_keys
    faults = (*DONE_BUT_NOT_SAID, *MIXED_UP, *NOT_DONE_AND_NOT_SAID, *NOT_TAKEN, *(STILL_RUNNING if by_keys else ()))
    orders = {fault: Parcel() for fault in faults}
    for fault, order in orders.items():
        installation.world.script(fault, match=order.order_id)
    installation.confirm(*orders.values())
    never_done = () if by_keys else NOT_DONE_AND_NOT_SAID
    for_a_person = (*MIXED_UP, *never_done)
    installation.wait_for(State.NEEDS_CONFIRMATION, *(orders[fault] for fault in for_a_person))
    installation.wait_for(State.COMPLETED, *(orders[fault] for fault in faults if fault not in for_a_person))
    asked_twice = NOT_TAKEN + (NOT_DONE_AND_NOT_SAID if by_keys else ())
    for fault, order in orders.items():
        assert len(installation.world.ledger(order)) == (0 if fault in never_done else 1), fault
        if fault not in STILL_RUNNING:
            assert len(installation.world.seen(order)) == (2 if fault in asked_twice else 1), fault


def test_one_parcel_whoever_asks(installation: Installation) -> None:
    """Event, messages and commands at once, at a carrier that takes its time: one booking, polled; a second is one."""
    order = Parcel()
    installation.world.script("status_202_2", match=order.order_id)
    installation.confirm(order, apply=True)
    with ThreadPoolExecutor() as together:
        environment = installation.settings.as_environment()
        command = together.submit(ikkai, "shipments", "request", order.order_id, environment=environment)
        installation.send("shipping.request_shipment", {"order_id": order.order_id}, copies=5)
    assert command.result().code == 0
    installation.wait_for(State.COMPLETED, order)
    assert len(installation.world.ledger(order)) == len(installation.world.seen(order)) == 1

    assert installation.ikkai("shipments", "request", order.order_id, "--number", "2").code == 0
    soon(lambda: len(installation.world.ledger(order)) == 2)
    assert len({row["reference"] for row in installation.world.ledger(order)}) == 2
