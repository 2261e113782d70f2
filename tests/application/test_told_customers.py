"""What the shop tells of customers: the newest message wins, field by field that it mentions."""

from itertools import permutations

import pytest

from domain.customers import Customer
from tests.application.envelopes import cancelled, confirmed, customer_told, envelope
from tests.application.shop import Shop


def test_a_customer_is_known_by_what_was_told(shop: Shop) -> None:
    """Registered or updated, it is the same news."""
    told = {"email": "taro@example.com", "name": "山田 太郎 🎉", "locale": "en", "payment_method": "pm_card_visa"}
    shop.tell(envelope("customer.registered", "n-1", 0, {"customer_id": "c-1", **told}))
    assert shop.customer() == Customer("c-1", **told, as_of=shop.clock.now())  # type: ignore[arg-type]
    assert shop.events() == {"n-1": ("applied", None)}


def test_fields_that_are_not_mentioned_stay(shop: Shop) -> None:
    """And a field that is told to be nothing is nothing."""
    shop.tell(
        customer_told(id_="n-1", name="山田", email="a@example.com"), customer_told(id_="n-2", minute=1, email=None)
    )
    assert (shop.customer().name, shop.customer().email) == ("山田", None)


def test_the_newest_message_wins_in_every_order_of_arrival() -> None:
    """By its own time, not by when it came (B34); an overtaken one is stale."""
    news = [customer_told(id_=f"n-{minute}", minute=minute, name=f"name {minute}") for minute in range(3)]
    for arrival in permutations(news):
        for at_once in (True, False):
            shop = Shop()
            (shop.tell_at_once if at_once else shop.tell)(*arrival)
            assert shop.customer().name == "name 2"
            newest = -1
            for event in arrival:
                minute = int(event["id"][-1])
                assert shop.state_of(event) == ("applied" if minute > newest else "ignored")
                newest = max(newest, minute)


def test_an_order_does_not_overwrite_what_was_told(shop: Shop) -> None:
    """In one set or apart, whichever comes first."""
    shop.tell(customer_told("c-1", id_="n-1", name="first"), confirmed("o-1", customer_id="c-1"))
    shop.tell_at_once(confirmed("o-2", customer_id="c-2"), customer_told("c-2", id_="n-2", name="second"))
    assert (shop.customer("c-1").name, shop.customer("c-2").name) == ("first", "second")


@pytest.mark.parametrize("minute", [0, 60 * 24 * 365 * -10])
def test_the_first_message_is_news_however_old(shop: Shop, minute: int) -> None:
    """A customer known by id alone has no newer news."""
    shop.tell(confirmed(), customer_told(id_="n-1", minute=minute, name="山田"))
    assert shop.customer().name == "山田"


def test_a_cancel_of_an_unknown_order_names_no_customer(shop: Shop) -> None:
    """There is nobody to make up."""
    shop.tell(cancelled())
    assert shop.books.customers.customers == {}
