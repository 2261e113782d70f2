"""`DecideOperation`: what a person decides, with who and why."""

import pytest

from domain.errors import Refused
from domain.operations import Outcome, State
from tests.application.envelopes import cancelled, confirmed
from tests.application.killed import killed_at_unit
from tests.application.shop import Shop

KEY = "shipment-request:o-1"
WHO = {"by": "花子", "evidence": "phone call with the carrier"}


def in_doubt(shop: Shop, *, works: bool = False) -> None:
    shop.tell(confirmed())
    shop.carrier.will_answer(KEY, Outcome.UNKNOWN, works=works)
    shop.ship()
    assert shop.request().state is State.NEEDS_CONFIRMATION


def parked(shop: Shop) -> None:
    shop.tell(confirmed())
    for _ in range(shop.retry_policy.max_attempts):
        killed_at_unit(shop, 2, shop.ship)
        shop.clock.advance(shop.timing.lease_seconds + 1)
        shop.sweep.execute()
    shop.ship()
    assert shop.request().state is State.PARKED


def test_parked_work_is_tried_again_under_its_key(shop: Shop) -> None:
    """Its history is kept; it has all its attempts again."""
    parked(shop)
    shop.decide.retry(KEY, by="花子")
    assert shop.ship() == 1
    assert (shop.parcels(), shop.carrier.received, shop.request().attempts) == ({1: "booked"}, [KEY], 1)
    whats = [line["what"] for line in shop.books.operations.story(KEY)]
    assert whats.count("claimed") == shop.retry_policy.max_attempts + 1
    assert "decided: ready" in whats


def test_work_that_may_have_happened_is_not_simply_retried(keyless_shop: Shop) -> None:
    """The refusal says what to do instead."""
    in_doubt(keyless_shop)
    with pytest.raises(Refused, match="operations resolve"):
        keyless_shop.decide.retry(KEY, by="花子")
    assert keyless_shop.request().state is State.NEEDS_CONFIRMATION


def test_only_parked_work_is_retried(shop: Shop) -> None:
    """Neither due, nor done, nor unknown work."""
    shop.tell(confirmed())
    for action in (lambda: None, shop.ship):
        action()
        with pytest.raises(Refused, match="not parked"):
            shop.decide.retry(KEY, by="花子")
    with pytest.raises(Refused, match="no operation"):
        shop.decide.retry("shipment-request:o-404", by="花子")


def test_what_happened_is_completed_under_its_reference(keyless_shop: Shop) -> None:
    """And never sent again."""
    in_doubt(keyless_shop, works=True)
    operation = keyless_shop.decide.resolve(KEY, reference="SH-1", **WHO)
    assert (operation.state, operation.result) == (State.COMPLETED, {"reference": "SH-1"})
    keyless_shop.clock.advance(86_400)
    assert (keyless_shop.ship(), keyless_shop.carrier.received) == (0, [KEY])


def test_what_did_not_happen_is_owed_and_sent_again(keyless_shop: Shop) -> None:
    """As if it had never been sent: nobody is asked what became of it."""
    in_doubt(keyless_shop)
    operation = keyless_shop.decide.resolve(KEY, reference=None, **WHO)
    assert (operation.state, operation.was_sent, operation.attempts) == (State.READY, False, 0)
    assert keyless_shop.ship() == 1
    assert (keyless_shop.parcels(), keyless_shop.carrier.received) == ({1: "booked"}, [KEY, KEY])
    assert keyless_shop.carrier.looked_up == []


@pytest.mark.parametrize("happened", [True, False])
def test_a_decision_is_kept_with_who_and_why(keyless_shop: Shop, *, happened: bool) -> None:
    """For whoever asks later."""
    in_doubt(keyless_shop)
    keyless_shop.decide.resolve(KEY, reference="SH-1" if happened else None, **WHO)
    last = keyless_shop.books.operations.story(KEY)[-1]
    assert last["what"] == f"decided: {'completed' if happened else 'ready'}"
    assert last["who"] == "花子"
    assert "phone call with the carrier" in last["detail"]


def test_what_did_not_happen_of_a_cancelled_order_is_not_sent_again(keyless_shop: Shop) -> None:
    """Its cancellation has nothing to stop (B33)."""
    in_doubt(keyless_shop)
    keyless_shop.tell(cancelled())
    keyless_shop.decide.resolve(KEY, reference=None, **WHO)
    keyless_shop.ship()
    keyless_shop.clock.advance(3600)
    keyless_shop.stop_parcels()
    assert (keyless_shop.request().state, keyless_shop.carrier.received) == (State.REFUSED, [KEY])
    assert (keyless_shop.cancellation().state, keyless_shop.parcels()) == (State.COMPLETED, {1: "cancelled"})


def test_what_happened_of_a_cancelled_order_is_stopped(keyless_shop: Shop) -> None:
    """Now that it is known that there is something to stop."""
    in_doubt(keyless_shop, works=True)
    keyless_shop.tell(cancelled())
    keyless_shop.stop_parcels()
    keyless_shop.decide.resolve(KEY, reference="SH-1", **WHO)
    keyless_shop.clock.advance(3600)
    keyless_shop.stop_parcels()
    assert [booking.status for booking in keyless_shop.carrier.bookings] == ["cancelled"]


def test_only_what_needs_confirmation_is_resolved(shop: Shop) -> None:
    """Neither due nor done work; a second decision is refused."""
    shop.tell(confirmed())
    for action in (lambda: None, shop.ship):
        action()
        with pytest.raises(Refused, match="only what needs confirmation"):
            shop.decide.resolve(KEY, reference="SH-9", **WHO)
    with pytest.raises(Refused, match="no operation"):
        shop.decide.resolve("shipment-request:o-404", reference=None, **WHO)
    assert shop.request().result == {"reference": "SH-1"}


def test_a_decision_whose_answer_was_lost_stands_and_is_no_error(shop: Shop) -> None:
    """Whoever decided is not told that it was already decided: it was decided by them."""
    parked(shop)
    shop.transactions.lose_next_answer()
    shop.decide.retry(KEY, by="花子")
    assert (shop.request().state, decisions(shop)) == (State.READY, ["decided: ready"])


@pytest.mark.parametrize(("reference", "state"), [("SH-1", State.COMPLETED), (None, State.READY)])
def test_a_resolution_whose_answer_was_lost_stands_and_is_no_error(
    keyless_shop: Shop, reference: str | None, state: State
) -> None:
    """Likewise."""
    in_doubt(keyless_shop)
    keyless_shop.transactions.lose_next_answer()
    operation = keyless_shop.decide.resolve(KEY, reference=reference, **WHO)
    assert operation.state is state
    assert decisions(keyless_shop) == [f"decided: {state}"]


def decisions(shop: Shop) -> list[str]:
    """What people decided of the parcel, each time they did."""
    whats = [line["what"] for line in shop.books.operations.story(KEY)]
    return [what for what in whats if what.startswith("decided")]
