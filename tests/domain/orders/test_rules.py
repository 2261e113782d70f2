"""An order ends as its highest revision says, whatever order its events arrive in (B33, B34)."""

import itertools
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.orders.events import EventState, read_event
from domain.orders.rules import Decision, Order, OrderStatus, PointRules, obey
from tests.domain.orders.samples import NOW, envelope

RULES = PointRules(ZoneInfo("Asia/Tokyo"))


def arrive(*envelopes: dict[str, Any]) -> tuple[Order, list[Decision]]:
    """The order after these events, and what each decided."""
    order, decisions = Order("o-1"), []
    for one in envelopes:
        decision = obey(order, read_event(one, now=NOW), RULES)
        decisions.append(decision)
        order = decision.order
    return order, decisions


def confirmed(id_: str, revision: int, **change: Any) -> dict[str, Any]:
    return envelope("order.confirmed", id_, revision=revision, **change)


def cancelled(id_: str, revision: int, **change: Any) -> dict[str, Any]:
    return envelope("order.cancelled", id_, revision=revision, **change)


def reasons(decisions: list[Decision]) -> list[str]:
    return [decision.grant.reason for decision in decisions if decision.grant]


def parcels(decisions: list[Decision]) -> list[int]:
    return [decision.shipment.number for decision in decisions if decision.shipment]


def live_grants(decisions: list[Decision]) -> set[str]:
    """Reasons granted and not taken back since."""
    live: set[str] = set()
    for decision in decisions:
        if decision.reversal:
            live.discard(decision.reversal.reason)
        if decision.grant:
            live.add(decision.grant.reason)
    return live


def test_a_confirmation_grants_and_ships_once() -> None:
    """Again under other ids, times and revisions it is already applied (B01)."""
    again = [confirmed("e-2", 1, time="2026-10-03T13:34:56+09:00"), confirmed("e-3", 5), confirmed("e-4", 2)]
    order, decisions = arrive(confirmed("e-1", 1), *again)
    assert (reasons(decisions), parcels(decisions)) == (["order_confirmed"], [1])
    assert {decision.verdict.reason for decision in decisions[1:]} == {"already applied"}
    assert order.status is OrderStatus.CONFIRMED


def test_another_content_is_a_conflict_and_the_first_wins() -> None:
    """Parked with what differs, for a person (B22)."""
    order, decisions = arrive(confirmed("e-1", 1), confirmed("e-2", 2, points=200, total=20000))
    assert decisions[1].verdict.state is EventState.CONFLICT
    assert decisions[1].verdict.reason == "already confirmed with other total, points"
    assert order.points == 120


def test_a_late_lower_revision_is_stale_even_with_other_content() -> None:
    """The order obeys its highest revision."""
    _, decisions = arrive(confirmed("e-2", 2), confirmed("e-1", 1, points=1))
    assert decisions[1].verdict.reason == "stale"


def test_cancel_before_confirm_leaves_nothing() -> None:
    """A-132 of B34: neither points nor a parcel."""
    order, decisions = arrive(cancelled("e-2", 2), confirmed("e-1", 1))
    assert (reasons(decisions), parcels(decisions), order.status) == ([], [], OrderStatus.CANCELLED)
    assert decisions[1].verdict.reason == "stale"


def test_a_cancel_reverses_and_stops_every_parcel() -> None:
    """What was granted is taken back, what was asked for is stopped."""
    _, decisions = arrive(confirmed("e-1", 1), cancelled("e-2", 2))
    reversal = decisions[1].reversal
    assert reversal is not None
    assert (reversal.reason, reversal.cause, list(decisions[1].cancelled_shipments)) == (
        "order_confirmed",
        "cancelled#2",
        [1],
    )


def test_a_higher_revision_after_a_cancel_grants_and_ships_once_more() -> None:
    """Under the next keys."""
    order, decisions = arrive(confirmed("e-1", 1), cancelled("e-2", 2), confirmed("e-3", 3), cancelled("e-4", 4))
    assert (reasons(decisions), parcels(decisions)) == (["order_confirmed", "order_confirmed#3"], [1, 2])
    assert decisions[3].reversal is not None
    assert decisions[3].reversal.reason == "order_confirmed#3"
    assert order.status is OrderStatus.CANCELLED


@pytest.mark.parametrize("revision", [1, 2])
def test_a_late_repeat_does_not_revive_a_cancelled_order(revision: int) -> None:
    """A notice that comes again hours later moves nothing (B33)."""
    late = confirmed("e-9", revision, time="2026-10-03T15:00:00+09:00")
    order, decisions = arrive(confirmed("e-1", 1), cancelled("e-2", 2), late)
    assert (order.status, decisions[2].verdict.reason) == (OrderStatus.CANCELLED, "stale")


def test_equal_revisions_are_decided_by_time_then_id() -> None:
    """Whichever of the two comes first, the same one wins."""
    for confirm, cancel, status in (
        (confirmed("e-1", 1), cancelled("e-2", 1), OrderStatus.CANCELLED),
        (confirmed("e-2", 1), cancelled("e-1", 1), OrderStatus.CONFIRMED),
        (confirmed("e-1", 1), cancelled("e-0", 1, time="2026-10-03T12:34:57+09:00"), OrderStatus.CANCELLED),
    ):
        for order in itertools.permutations((confirm, cancel)):
            assert arrive(*order)[0].status is status


def test_a_repeated_cancel_is_already_applied() -> None:
    """Points are taken back once."""
    _, decisions = arrive(confirmed("e-1", 1), cancelled("e-2", 2), cancelled("e-3", 3))
    assert decisions[2].verdict.reason == "already applied"
    assert decisions[2].reversal is None


def test_an_order_without_points_or_address_needs_neither() -> None:
    """A legal nothing is no error (B09)."""
    order, decisions = arrive(confirmed("e-1", 1, points=0, ship_to=None))
    assert (decisions[0].grant, decisions[0].shipment, order.status) == (None, None, OrderStatus.CONFIRMED)


def test_points_not_given_are_earned_on_the_total() -> None:
    """One percent of whole yen."""
    event = confirmed("e-1", 1)
    del event["data"]["points"]
    decision = arrive(event)[1][0]
    assert decision.grant is not None
    assert decision.grant.points == 120


HISTORY = [confirmed("e-1", 1), cancelled("e-2", 2), confirmed("e-3", 3), cancelled("e-4", 4), confirmed("e-5", 5)]


@given(st.integers(1, 5), st.permutations(range(5)), st.lists(st.integers(0, 4), max_size=6))
def test_the_end_does_not_depend_on_the_order_of_arrival(length: int, arrival: list[int], repeats: list[int]) -> None:
    """Any arrival, with any repeats, ends in the state of the highest revision, with one live grant or none."""
    arrived = [HISTORY[place] for place in (*arrival, *repeats) if place < length]
    order, decisions = arrive(*arrived)
    assert order.status is (OrderStatus.CONFIRMED if length % 2 else OrderStatus.CANCELLED)
    assert len(live_grants(decisions)) == (1 if length % 2 else 0)
    assert len(set(reasons(decisions))) == len(reasons(decisions))
    assert parcels(decisions) == list(range(1, len(parcels(decisions)) + 1))
