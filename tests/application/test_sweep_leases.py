"""`SweepLeases`: what dead workers held is freed, by what may have happened to it."""

import pytest

from domain.operations import Finding, Outcome, State
from domain.shipping import REQUEST
from tests.application.envelopes import confirmed
from tests.application.killed import killed_at_unit, killed_during_the_call
from tests.application.shop import Shop


def test_a_lease_that_runs_is_left_alone(shop: Shop) -> None:
    """Its worker may only be slow."""
    shop.tell(confirmed())
    killed_during_the_call(shop, shop.ship)
    shop.clock.advance(shop.timing.lease_seconds - 1)
    assert (shop.sweep.execute(), shop.request().state) == (0, State.PROCESSING)


def test_what_was_never_sent_is_due_again(shop: Shop) -> None:
    """At once; the attempt counts."""
    shop.tell(confirmed())
    killed_at_unit(shop, 2, shop.ship)
    shop.clock.advance(shop.timing.lease_seconds + 1)
    assert shop.sweep.execute() == 1
    operation = shop.request()
    assert (operation.state, operation.attempts, operation.was_sent) == (State.READY, 1, False)
    assert operation.reason == "its worker ended before sending"
    assert shop.books.operations.due([REQUEST]) == {REQUEST: 1}


@pytest.mark.parametrize(("honours_keys", "state"), [(True, State.READY), (False, State.NEEDS_CONFIRMATION)])
def test_what_was_perhaps_sent_goes_by_its_policy(*, honours_keys: bool, state: State) -> None:
    """Again under its key, or to a person."""
    shop = Shop(honours_keys=honours_keys)
    shop.tell(confirmed())
    killed_during_the_call(shop, shop.ship)
    shop.clock.advance(shop.timing.lease_seconds + 1)
    assert shop.sweep.execute() == 1
    operation = shop.request()
    assert (operation.state, operation.was_sent, operation.reason) == (state, True, "its worker ended after sending")


def test_what_was_sent_by_an_earlier_attempt_only_is_due_again(keyless_shop: Shop) -> None:
    """Its worker ended while it polled: nothing was sent that time, and the polling goes on."""
    keyless_shop.tell(confirmed())
    keyless_shop.carrier.will_answer("shipment-request:o-1", Outcome.RUNNING, works=True)
    keyless_shop.ship()
    keyless_shop.clock.advance(600)
    killed_at_unit(keyless_shop, 2, keyless_shop.ship)
    keyless_shop.clock.advance(keyless_shop.timing.lease_seconds + 1)
    keyless_shop.sweep.execute()
    assert keyless_shop.request().state is State.READY
    keyless_shop.ship()
    assert (keyless_shop.parcels(), len(keyless_shop.carrier.received)) == ({1: "booked"}, 1)


def test_what_was_perhaps_sent_too_often_goes_to_a_person(shop: Shop) -> None:
    """Work that takes its worker with it must not do so for ever."""
    shop.tell(confirmed())
    for _ in range(shop.retry_policy.max_attempts):
        shop.carrier.will_find(shop.request().key, Finding.NOT_FOUND)
        killed_during_the_call(shop, shop.ship)
        shop.clock.advance(shop.timing.lease_seconds + 1)
        shop.sweep.execute()
    assert shop.request().state is State.NEEDS_CONFIRMATION


def test_a_sweep_takes_no_more_than_its_limit(shop: Shop) -> None:
    """The next one takes the rest, and one more finds nothing."""
    shop.tell(*(confirmed(f"o-{number}") for number in range(5)))
    killed_during_the_call(shop, shop.ship)
    shop.clock.advance(shop.timing.lease_seconds + 1)
    assert [shop.sweep.execute(2) for _ in range(4)] == [2, 2, 1, 0]


def test_an_answer_that_was_lost_frees_once(shop: Shop) -> None:
    """The sweep that runs again finds the lease gone."""
    shop.tell(confirmed())
    killed_at_unit(shop, 2, shop.ship)
    shop.clock.advance(shop.timing.lease_seconds + 1)
    shop.transactions.lose_next_answer()
    shop.sweep.execute()
    assert (shop.request().state, shop.request().attempts, shop.books.operations.under_way()) == (State.READY, 1, 0)
