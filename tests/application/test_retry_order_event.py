"""`RetryOrderEvent`: a parked event is applied again once what it failed for is mended."""

import pytest

from application.orders import RetryOrderEvent
from domain.errors import Refused
from domain.points import MAX_POINTS
from tests.application.envelopes import cancelled, confirmed
from tests.application.shop import Shop


def retry(shop: Shop, event_id: str, source: str = "shop") -> None:
    RetryOrderEvent(shop.transactions).execute(source, event_id)


def test_a_parked_event_is_applied_when_its_cause_is_gone(shop: Shop) -> None:
    """As if it had just come."""
    shop.tell(confirmed("o-1", points=MAX_POINTS), confirmed("o-2"))
    assert shop.state_of(confirmed("o-2")) == "parked"
    shop.tell(cancelled("o-1"))
    retry(shop, confirmed("o-2")["id"])
    assert shop.books.inbox.due() == 1
    shop.apply.execute()
    assert (shop.state_of(confirmed("o-2")), shop.balance(), shop.live_parcels("o-2")) == ("applied", 120, 1)


def test_a_cause_that_is_not_gone_parks_it_again(shop: Shop) -> None:
    """Nothing is lost by trying."""
    shop.tell(confirmed("o-1", points=MAX_POINTS), confirmed("o-2"))
    retry(shop, confirmed("o-2")["id"])
    shop.apply.execute()
    assert shop.state_of(confirmed("o-2")) == "parked"


def test_only_parked_events_are_retried(shop: Shop) -> None:
    """Neither applied ones, nor ones in conflict, nor those nobody knows."""
    other = confirmed(revision=2, points=1)
    shop.tell(confirmed(), other)
    for event_id, source in ((confirmed()["id"], "shop"), (other["id"], "shop"), ("?", "shop"), (other["id"], "csv")):
        with pytest.raises(Refused, match="no parked event"):
            retry(shop, event_id, source)
    assert shop.books.inbox.due() == 0
