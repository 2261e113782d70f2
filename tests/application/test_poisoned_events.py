"""An event that cannot be applied is set apart, alone; the rest of its set goes on."""

import itertools
import logging
from collections.abc import Sequence

import pytest

from domain.errors import Unavailable
from domain.operations import NewOperation, Registration
from domain.orders.events import EventState, StoredEvent
from domain.points import MAX_POINTS
from tests.application.envelopes import cancelled, confirmed, customer_told
from tests.application.shop import Shop
from tests.fakes.operations import InMemoryOperationBook
from tests.fakes.orders import InMemoryEventInbox


class PoisonedOperationBook(InMemoryOperationBook):
    """Breaks on the parcels of some orders, as a mistake of ours would."""

    poisoned: Sequence[str] = ()
    by: type[Exception] = ZeroDivisionError

    def register_each(self, operations: Sequence[NewOperation]) -> Sequence[Registration]:
        for operation in operations:
            if operation.subject in self.poisoned:
                raise self.by(f"a mistake of ours in {operation.subject}")
        return super().register_each(operations)


def poison(shop: Shop, *order_ids: str, by: type[Exception] = ZeroDivisionError) -> None:
    book = PoisonedOperationBook(shop.clock)
    book.poisoned, book.by = order_ids, by
    shop.books.operations = book


ORDERS = [f"o-{number:02}" for number in range(12)]


@pytest.mark.parametrize("bad", [ORDERS[:1], ORDERS[5:6], ORDERS[-1:], ORDERS[3:9:2], ORDERS[:2], ORDERS])
def test_only_the_poisoned_events_are_parked(shop: Shop, bad: Sequence[str], caplog: pytest.LogCaptureFixture) -> None:
    """Wherever they stand in the set, and however many they are; each is logged with its cause."""
    poison(shop, *bad)
    shop.accept.execute([confirmed(order_id) for order_id in ORDERS])
    with caplog.at_level(logging.ERROR):
        counts = shop.apply.execute()
    assert counts[EventState.PARKED] == len(bad)
    assert counts[EventState.APPLIED] == len(ORDERS) - len(bad)
    assert shop.balance() == 120 * (len(ORDERS) - len(bad))
    for order_id in ORDERS:
        state, reason = shop.events(order_id)[confirmed(order_id)["id"]]
        assert state == ("parked" if order_id in bad else "applied")
        assert reason == (f"unexpected ZeroDivisionError: a mistake of ours in {order_id}" if order_id in bad else None)
        assert shop.live_parcels(order_id) == (order_id not in bad)
    assert sum("ZeroDivisionError" in (record.exc_text or "") for record in caplog.records) == len(bad)
    assert shop.apply.execute() == {}


def test_what_a_rule_refuses_is_parked_with_the_rules_words(shop: Shop) -> None:
    """Points that no balance can hold (B09)."""
    shop.tell_at_once(confirmed("o-1", points=MAX_POINTS), confirmed("o-2"), confirmed("o-3", customer_id="c-2"))
    state, reason = shop.events()[confirmed("o-2")["id"]]
    assert state == "parked"
    assert reason is not None
    assert str(MAX_POINTS) in reason
    assert (shop.balance(), shop.balance("c-2"), shop.live_parcels("o-2")) == (MAX_POINTS, 120, 0)


def test_events_keep_their_order_when_a_set_is_split(shop: Shop) -> None:
    """A split set gives what the whole one would have given."""
    poison(shop, "o-poisoned")
    shop.tell_at_once(
        confirmed("o-1"),
        cancelled("o-1"),
        confirmed("o-poisoned"),
        confirmed("o-1", revision=3),
        customer_told(id_="n-1", name="first"),
        customer_told(id_="n-2", name="second"),
    )
    assert shop.grants() == [
        ("o-1", "order_confirmed", 120),
        ("o-1", "order_confirmed", -120),
        ("o-1", "order_confirmed#3", 120),
    ]
    assert (shop.parcels(), shop.customer().name) == ({1: "cancelled", 2: "owed"}, "second")


def test_an_event_set_apart_does_not_hold_up_the_next_of_its_order(shop: Shop) -> None:
    """A cancel is obeyed although its confirmation could not be."""
    poison(shop, "o-1")
    shop.tell_at_once(confirmed(), cancelled())
    assert (shop.state_of(confirmed()), shop.state_of(cancelled())) == ("parked", "applied")
    assert shop.order().status == "cancelled"


def test_a_database_that_is_gone_parks_nothing(shop: Shop) -> None:
    """All events stay due until it is back."""
    shop.accept.execute([confirmed(order_id) for order_id in ORDERS])
    shop.transactions.reachable = False
    with pytest.raises(Unavailable):
        shop.apply.execute()
    shop.transactions.reachable = True
    assert shop.books.inbox.due() == len(ORDERS)
    shop.apply.execute()
    assert shop.balance() == 120 * len(ORDERS)


def test_a_database_that_goes_away_while_a_set_is_split_parks_nothing(shop: Shop) -> None:
    """What could not be tried is not at fault, however soon the database is back."""
    poison(shop, "o-bad")
    shop.accept.execute([confirmed("o-bad"), confirmed("o-good")])
    units = itertools.count(1)

    def be_away_for_the_good_half() -> None:  # after the whole set, the bad half and its setting apart
        shop.transactions.reachable = next(units) != 4

    shop.transactions.before_unit = be_away_for_the_good_half
    with pytest.raises(Unavailable):
        shop.apply.execute()
    assert (shop.state_of(confirmed("o-bad")), shop.state_of(confirmed("o-good"))) == ("parked", "accepted")
    shop.apply.execute()
    assert (shop.live_parcels("o-bad"), shop.live_parcels("o-good")) == (0, 1)


@pytest.mark.parametrize("order_ids", [ORDERS, ORDERS[:1]], ids=["a set", "a single event"])
def test_a_database_that_goes_away_in_the_middle_of_a_set_parks_nothing(shop: Shop, order_ids: Sequence[str]) -> None:
    """Not even when it was there to take the set."""
    poison(shop, *order_ids, by=Unavailable)
    shop.accept.execute([confirmed(order_id) for order_id in order_ids])
    with pytest.raises(Unavailable):
        shop.apply.execute()
    assert shop.books.inbox.due() == len(order_ids)


class BrokenInbox(InMemoryEventInbox):
    """Breaks before any event is taken, as a table that is missing would."""

    def take(self, limit: int) -> Sequence[StoredEvent]:
        raise LookupError("the inbox itself is broken")


def test_a_failure_before_any_event_was_taken_is_no_quiet_nothing_due(shop: Shop) -> None:
    """Nothing could be set apart for it, so it comes out as it is."""
    shop.books.inbox = BrokenInbox(shop.clock)
    with pytest.raises(LookupError, match="the inbox itself is broken"):
        shop.apply.execute()
