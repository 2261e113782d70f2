"""`PerformOperations`: claim, gate, call, settle, whatever the provider makes of keys."""

import itertools

import pytest

from application.operations import Timing
from domain.errors import Unavailable
from domain.operations import Finding, Outcome, State
from tests.application.envelopes import cancelled, confirmed
from tests.application.killed import at_unit
from tests.application.shop import Shop

KEY = "shipment-request:o-1"


@pytest.fixture(params=[True, False], ids=["with keys", "without keys"])
def any_shop(request: pytest.FixtureRequest) -> Shop:
    """Whether its carrier honours keys makes no difference here."""
    return Shop(honours_keys=request.param)


def test_a_due_parcel_is_asked_for_once(any_shop: Shop) -> None:
    """And its reference is kept; nothing is left to do."""
    any_shop.tell(confirmed())
    assert (any_shop.ship(), any_shop.ship()) == (1, 0)
    assert (any_shop.request().state, any_shop.request().result) == (State.COMPLETED, {"reference": "SH-1"})
    assert (any_shop.carrier.received, any_shop.parcels()) == ([KEY], {1: "booked"})


def test_nothing_due_calls_nobody(any_shop: Shop) -> None:
    """Neither before anything was asked for nor after."""
    assert any_shop.ship() == 0
    assert (any_shop.carrier.received, any_shop.carrier.looked_up) == ([], [])


def test_no_more_is_taken_on_than_asked_for(any_shop: Shop) -> None:
    """The rest is left to others."""
    any_shop.tell(*(confirmed(f"o-{number}") for number in range(5)))
    worker = any_shop.worker()
    assert [worker.execute(2) for _ in range(4)] == [2, 2, 1, 0]
    assert len(any_shop.carrier.bookings) == 5


def test_a_named_parcel_is_asked_for_alone(any_shop: Shop) -> None:
    """Naming one that is not due, or unknown, does nothing."""
    any_shop.tell(confirmed("o-1"), confirmed("o-2"))
    worker = any_shop.worker()
    assert [worker.execute(1, key=key) for key in ("shipment-request:o-2", "shipment-request:o-2", "?")] == [1, 0, 0]
    assert any_shop.carrier.received == ["shipment-request:o-2"]


def test_no_transaction_is_open_while_the_carrier_is_called(any_shop: Shop) -> None:
    """What will be sent is stored before it is sent."""
    seen: list[tuple[State, bool]] = []

    def look() -> None:
        any_shop.transactions.assert_none_open()
        seen.append((any_shop.request().state, any_shop.request().was_sent))

    any_shop.carrier.during_call = look
    any_shop.tell(confirmed())
    any_shop.ship()
    assert seen == [(State.PROCESSING, True)]


def test_a_definite_no_is_final(any_shop: Shop) -> None:
    """It is never sent again."""
    any_shop.tell(confirmed())
    any_shop.carrier.will_answer(KEY, Outcome.REFUSED)
    any_shop.ship()
    any_shop.clock.advance(86_400)
    any_shop.ship()
    assert (any_shop.request().state, any_shop.request().reason) == (State.REFUSED, "scripted refused")
    assert (any_shop.carrier.received, any_shop.parcels()) == ([KEY], {1: "refused"})


def test_an_answer_that_asks_for_a_person_waits_for_one(any_shop: Shop) -> None:
    """With all that was said."""
    any_shop.tell(confirmed())
    any_shop.carrier.will_answer(KEY, Outcome.FLAGGED, works=True, result={"order_id": "o-other"})
    any_shop.ship()
    operation = any_shop.request()
    assert (operation.state, operation.result) == (State.NEEDS_CONFIRMATION, {"order_id": "o-other"})
    assert any_shop.ship() == 0


@pytest.mark.parametrize("outcome", [Outcome.NOT_SENT, Outcome.THROTTLED])
def test_what_was_not_taken_on_is_tried_again_for_ever(any_shop: Shop, outcome: Outcome) -> None:
    """It is due again later, no attempt is used up, and nobody is asked what became of it."""
    any_shop.tell(confirmed())
    for _ in range(any_shop.retry_policy.max_attempts * 2):
        any_shop.carrier.will_answer(KEY, outcome)
        assert any_shop.ship() == 1
        operation = any_shop.request()
        assert (operation.state, operation.attempts, operation.was_sent) == (State.READY, 0, False)
        assert any_shop.ship() == 0
        any_shop.clock.advance(any_shop.retry_policy.max_retry_seconds * 1.25)
    any_shop.ship()
    assert (any_shop.request().state, len(any_shop.carrier.bookings)) == (State.COMPLETED, 1)
    assert any_shop.carrier.looked_up == []


def test_a_carriers_wish_to_wait_is_heeded(any_shop: Shop) -> None:
    """Not a second before, and other parcels go on (B45)."""
    any_shop.tell(confirmed("o-1"), confirmed("o-2"))
    any_shop.carrier.will_answer(KEY, Outcome.THROTTLED, retry_after_seconds=300)
    any_shop.ship()
    any_shop.clock.advance(299)
    assert any_shop.ship() == 0
    any_shop.clock.advance(1)
    assert any_shop.ship() == 1
    assert any_shop.carrier.received == [KEY, "shipment-request:o-2", KEY]


def test_a_parcel_still_being_worked_on_is_polled_not_repeated(any_shop: Shop) -> None:
    """Ten minutes of "in progress" are one request, no attempt used up, and one booking (B40)."""
    any_shop.tell(confirmed())
    any_shop.carrier.will_answer(KEY, Outcome.RUNNING, works=True, result={"command_id": "c1"})
    any_shop.ship()
    assert any_shop.parcels() == {1: "requested"}
    for _ in range(5):
        any_shop.carrier.will_find(KEY, Finding.RUNNING)
        any_shop.clock.advance(120)
        any_shop.ship()
        assert (any_shop.request().state, any_shop.request().attempts) == (State.READY, 0)
    any_shop.clock.advance(600)
    any_shop.ship()
    assert any_shop.request().result == {"command_id": "c1", "reference": "SH-1"}
    assert (any_shop.carrier.received, any_shop.parcels()) == ([KEY], {1: "booked"})


def test_a_look_up_without_an_answer_concludes_nothing(any_shop: Shop) -> None:
    """It is asked again later, without using up an attempt."""
    any_shop.tell(confirmed())
    any_shop.carrier.will_answer(KEY, Outcome.RUNNING, works=True)
    any_shop.ship()
    for _ in range(any_shop.retry_policy.max_attempts * 2):
        any_shop.carrier.will_find(KEY, Finding.NO_ANSWER)
        any_shop.clock.advance(any_shop.retry_policy.max_retry_seconds * 1.25)
        assert any_shop.ship() == 1
        assert (any_shop.request().state, any_shop.request().was_sent) == (State.READY, True)
    assert any_shop.carrier.received == [KEY]


def test_each_of_a_set_gets_its_own_answer(any_shop: Shop) -> None:
    """One bad answer concerns that parcel alone."""
    any_shop.tell(*(confirmed(f"o-{number}") for number in range(1, 6)))
    for order_id, outcome in (("o-2", Outcome.REFUSED), ("o-3", Outcome.NOT_SENT), ("o-4", Outcome.FLAGGED)):
        any_shop.carrier.will_answer(f"shipment-request:{order_id}", outcome)
    any_shop.ship()
    states = [any_shop.request(f"o-{number}").state for number in range(1, 6)]
    assert states == [State.COMPLETED, State.REFUSED, State.READY, State.NEEDS_CONFIRMATION, State.COMPLETED]


def test_only_so_many_are_under_way_at_once(any_shop: Shop) -> None:
    """What came back is written before the next are sent, so that a crash leaves few in doubt."""
    any_shop.tell(*(confirmed(f"o-{number}") for number in range(5)))
    under_way: list[tuple[int, int]] = []

    def count() -> None:
        operations = list(any_shop.books.operations.operations.values())
        sent = sum(one.state is State.PROCESSING and one.was_sent for one in operations)
        under_way.append((sent, sum(one.state is State.COMPLETED for one in operations)))

    any_shop.carrier.during_call = count
    any_shop.worker(at_once=2).execute(10)
    assert under_way == [(2, 0), (2, 2), (1, 4)]
    assert all(one.state is State.COMPLETED for one in any_shop.books.operations.operations.values())


def test_a_worker_that_stood_still_before_it_could_send_sends_nothing(any_shop: Shop) -> None:
    """Its lease may be over by now; whoever claims next sends."""
    any_shop.tell(confirmed())
    any_shop.worker(monotonic=itertools.count(0.0, 1.5).__next__).execute(10)
    operation = any_shop.request()
    assert (operation.state, operation.attempts, operation.was_sent) == (State.READY, 0, False)
    assert any_shop.carrier.received == []
    any_shop.clock.advance(60)
    any_shop.worker(monotonic=itertools.count(0.0, 0.9).__next__).execute(10)
    assert len(any_shop.carrier.bookings) == 1


def test_a_worker_whose_lease_is_nearly_over_sends_nothing(any_shop: Shop) -> None:
    """A long look-up before it must not lead to a send that outlasts the lease."""
    any_shop.tell(confirmed("o-1"))
    any_shop.carrier.will_answer(KEY, Outcome.RUNNING, works=True)
    any_shop.ship()
    any_shop.clock.advance(60)
    any_shop.tell(confirmed("o-2"))
    any_shop.carrier.during_look_up = lambda: any_shop.clock.advance(any_shop.timing.lease_seconds - 5)
    any_shop.ship()
    other = any_shop.request("o-2")
    assert (other.state, other.reason, other.attempts) == (State.READY, "held back: the lease was nearly over", 0)
    assert any_shop.carrier.received == [KEY]


def test_a_worker_that_comes_back_too_late_writes_nothing(any_shop: Shop) -> None:
    """Another has the operation by then, and what it does counts (B51)."""
    any_shop.tell(confirmed())

    def stand_still() -> None:
        any_shop.carrier.during_call = any_shop.transactions.assert_none_open
        any_shop.clock.advance(any_shop.timing.lease_seconds + 1)
        any_shop.sweep.execute()
        any_shop.clock.advance(60)
        any_shop.ship()
        any_shop.reconcile.execute()

    any_shop.carrier.will_answer(KEY, Outcome.REFUSED, works=True)
    any_shop.carrier.during_call = stand_still
    any_shop.ship()
    assert (any_shop.request().state, any_shop.request().result) == (State.COMPLETED, {"reference": "SH-1"})
    assert len(any_shop.carrier.bookings) == 1


def test_one_process_does_two_kinds_of_work_without_mixing_them_up(any_shop: Shop) -> None:
    """Though both are claimed under the worker's one name."""
    any_shop.tell(confirmed("o-1"))
    stop = any_shop.worker(any_shop.cancels, name="w")
    stopped: list[int] = []
    any_shop.carrier.during_call = lambda: stopped.append(stop.execute(10))
    any_shop.worker(name="w").execute(10)
    assert (stopped, any_shop.request().state) == ([0], State.COMPLETED)


def test_threads_that_share_a_worker_do_not_share_its_claims(any_shop: Shop) -> None:
    """What one has under way, the other does not take for its own."""
    any_shop.tell(confirmed("o-1"))
    worker = any_shop.worker()
    others: list[int] = []
    any_shop.carrier.during_call = lambda: others.append(worker.execute(10))
    worker.execute(10)
    assert (others, any_shop.carrier.received) == ([0], [KEY])


@pytest.mark.parametrize("lost", [1, 2, 3], ids=["claim", "gate", "settlement"])
def test_an_answer_that_was_lost_at_commit_sends_once(any_shop: Shop, lost: int) -> None:
    """The unit that runs again finds its own claim, gate or settlement (B27)."""
    any_shop.tell(confirmed("o-1"), confirmed("o-2"))
    with at_unit(any_shop, lost, any_shop.transactions.lose_next_answer):
        any_shop.worker().execute(10)
    assert sorted(any_shop.carrier.received) == [KEY, "shipment-request:o-2"]
    assert [(one.state, one.epoch) for one in (any_shop.request("o-1"), any_shop.request("o-2"))] == [
        (State.COMPLETED, 1)
    ] * 2


def test_a_database_that_is_gone_before_the_gate_keeps_everything_from_being_sent(any_shop: Shop) -> None:
    """What cannot be recorded is not done."""
    any_shop.tell(confirmed())
    any_shop.transactions.reachable = False
    with pytest.raises(Unavailable):
        any_shop.ship()
    assert any_shop.carrier.received == []


def test_a_cancel_in_the_middle_of_the_call_asks_the_carrier_to_stop_it(any_shop: Shop) -> None:
    """The parcel is booked, and then stopped."""
    any_shop.tell(confirmed())

    def cancel() -> None:
        any_shop.carrier.during_call = any_shop.transactions.assert_none_open
        any_shop.tell(cancelled())

    any_shop.carrier.during_call = cancel
    any_shop.ship()
    any_shop.stop_parcels()
    assert ([one.status for one in any_shop.carrier.bookings], any_shop.parcels()) == (["cancelled"], {1: "cancelled"})


def test_a_lease_that_cannot_outlast_a_look_up_and_a_call_is_refused() -> None:
    """At the start, not when money is at stake."""
    with pytest.raises(ValueError, match="at least 22 s"):
        Timing(call_deadline_seconds=10, lease_seconds=21)
    assert Timing(call_deadline_seconds=10, lease_seconds=22).gate_seconds == 11
