"""Whatever order events and requests arrive in, one by one or in one set, an order ends the same."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import Final

import pytest

from domain.errors import Refused
from tests.application.envelopes import Envelope, cancelled, confirmed, customer_told, refunded
from tests.application.shop import Shop
from tests.contracts.identities import assert_identities, in_memory_tallies

Told = Callable[[Shop, Sequence[Envelope]], None]
End = tuple[str, int, int]


def told_and_shipped(shop: Shop, events: Sequence[Envelope]) -> None:
    for event in events:
        shop.tell(event)
        shop.ship()
        shop.stop_parcels()


WAYS: Final[dict[str, Told]] = {
    "one by one": lambda shop, events: shop.tell(*events),
    "in one set": lambda shop, events: shop.tell_at_once(*events),
    "each twice": lambda shop, events: shop.tell(*(event for event in events for _ in range(2))),
    "with shipping between": told_and_shipped,
}


def end(shop: Shop) -> End:
    """How order o-1 ended: its status, what it earned, and how many parcels are to arrive."""
    assert_identities(in_memory_tallies(shop.books.ledger))
    shop.ship()
    shop.stop_parcels()
    arriving = sum(booking.status == "booked" for booking in shop.carrier.bookings)
    assert arriving == shop.live_parcels()
    return shop.order().status, shop.balance(), arriving


STORIES: Final[dict[str, tuple[Sequence[Envelope], End]]] = {
    "A-132: cancelled": ([confirmed(revision=1), cancelled(revision=2, minute=2)], ("cancelled", 0, 0)),
    "A-133: refunded": (
        [refunded(revision=3), confirmed(revision=1), customer_told(id_="n-1", name="山田")],
        ("confirmed", 120, 1),
    ),
    "re-activated": (
        [confirmed(revision=1), cancelled(revision=2), confirmed(revision=3)],
        ("confirmed", 120, 1),
    ),
    "cancelled twice": (
        [confirmed(revision=1), cancelled(revision=2), confirmed(revision=3), cancelled(revision=4)],
        ("cancelled", 0, 0),
    ),
    "repeated late": (
        [confirmed(revision=1), confirmed(revision=1, id_="again", minute=120), cancelled(revision=2, minute=60)],
        ("cancelled", 0, 0),
    ),
    "equal revisions, cancelled later": ([confirmed(revision=1), cancelled(revision=1, minute=1)], ("cancelled", 0, 0)),
    "equal revisions, cancelled earlier": (
        [confirmed(revision=1, minute=1), cancelled(revision=1)],
        ("confirmed", 120, 1),
    ),
    "equal stamps, decided by id": (
        [confirmed(revision=1, id_="a"), cancelled(revision=1, id_="b")],
        ("cancelled", 0, 0),
    ),
    "ahead of its time": (
        [confirmed(revision=1, minute=10), cancelled(revision=2, minute=5)],
        ("cancelled", 0, 0),
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("story", STORIES)
def test_an_order_ends_as_its_highest_revision_says(story: str, way: str) -> None:
    """In every order of arrival (B34)."""
    events, expected = STORIES[story]
    for arrival in permutations(events):
        shop = Shop()
        WAYS[way](shop, arrival)
        assert end(shop) == expected, [event["id"] for event in arrival]


def confirm(shop: Shop) -> None:
    shop.tell(confirmed())


def cancel(shop: Shop) -> None:
    shop.tell(cancelled())


def grant_by_hand(shop: Shop) -> bool:
    return shop.grant.execute(order_id="o-1", customer_id="c-1", points=120)


def paths(shop: Shop, answers: list[bool]) -> list[Callable[[], object]]:
    """Five ways by which the points of one order are asked for."""

    def by_hand() -> None:
        answers.append(grant_by_hand(shop))

    return [
        lambda: shop.tell(confirmed()),  # HTTP
        lambda: shop.tell(confirmed(id_="paid off later", minute=60)),  # HTTP
        by_hand,  # command line
        by_hand,  # operators' page
        lambda: shop.tell(confirmed()),  # an old message, replayed from the queue
    ]


def test_five_ways_to_the_same_points_grant_once() -> None:
    """In all 120 orders, the others are told that it was done (B02)."""
    for order in permutations(range(5)):
        shop, answers = Shop(), list[bool]()
        ways = paths(shop, answers)
        for place in order:
            ways[place]()
        assert end(shop) == ("confirmed", 120, 1)
        assert shop.grants() == [("o-1", "order_confirmed", 120)]
        first_by_hand = order[0] in (2, 3)
        assert answers == [first_by_hand, False]
        assert {state for state, _ in shop.events().values()} <= {"applied", "ignored"}


def test_five_ways_at_once_grant_once() -> None:
    """From threads that know nothing of each other."""
    for _ in range(20):
        shop, answers = Shop(), list[bool]()
        with ThreadPoolExecutor(5) as pool:
            for way in [pool.submit(way) for way in paths(shop, answers)]:
                way.result()
        shop.apply.execute()
        assert end(shop) == ("confirmed", 120, 1)
        assert shop.grants() == [("o-1", "order_confirmed", 120)]


def test_a_grant_by_hand_and_a_cancel_leave_nothing_whichever_is_first() -> None:
    """By hand before the events: taken back by the cancel. After the cancel: refused."""
    for order in permutations([confirm, cancel, grant_by_hand]):
        shop = Shop()
        for step in order:
            try:
                step(shop)
            except Refused:
                assert order.index(grant_by_hand) > order.index(cancel)
        assert end(shop) == ("cancelled", 0, 0), order
