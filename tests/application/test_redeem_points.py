"""`RedeemPoints`: points spent at checkout, from a command or a script."""

from datetime import UTC, datetime

import pytest

from domain.errors import Malformed, Refused
from tests.application.envelopes import cancelled, confirmed
from tests.application.shop import Shop

LAST_MOMENT = datetime(2027, 10, 31, 14, 59, 59, tzinfo=UTC)  # one second before November in Tokyo


def redeem(
    shop: Shop,
    points: object = 50,
    *,
    redemption_id: object = "r-1",
    customer_id: object = "c-1",
    order_id: object = None,
) -> bool:
    return shop.redeem.execute(redemption_id=redemption_id, customer_id=customer_id, points=points, order_id=order_id)


def test_points_are_spent_once(shop: Shop) -> None:
    """The first call says yes, every later one no, without an error."""
    shop.tell(confirmed())
    assert [redeem(shop) for _ in range(3)] == [True, False, False]
    assert shop.balance() == 70


def test_nothing_is_spent_on_a_cancelled_order(shop: Shop) -> None:
    """The points stay, and so does the id."""
    shop.tell(confirmed("o-1"))
    shop.tell(cancelled("o-2"))
    with pytest.raises(Refused, match="o-2 is cancelled"):
        redeem(shop, order_id="o-2")
    assert redeem(shop, order_id="o-3")
    assert shop.balance() == 70


def test_an_order_that_points_are_spent_on_is_known_from_then_on(shop: Shop) -> None:
    """So that a cancel on its way meets it."""
    shop.tell(confirmed("o-1"))
    redeem(shop, order_id="o-2")
    assert shop.order("o-2").status == "announced"


def test_what_has_lapsed_cannot_be_spent(shop: Shop) -> None:
    """It is posted as lapsed first, on the first day after its last in the business time zone."""
    shop.tell(confirmed())  # until 2027-10-31
    shop.clock.set(LAST_MOMENT)
    assert redeem(shop, 20)
    shop.clock.advance(1)
    with pytest.raises(Refused, match="has 0 points"):
        redeem(shop, 20, redemption_id="r-2")


@pytest.mark.parametrize(
    ("field", "value"),
    [("points", 0), ("points", -1), ("points", 1.5), ("points", True), ("redemption_id", ""), ("customer_id", None)],
)
def test_what_cannot_be_understood_is_named(shop: Shop, field: str, value: object) -> None:
    """Nothing is spent (B09)."""
    shop.tell(confirmed())
    asked: dict[str, object] = {"redemption_id": "r-1", "customer_id": "c-1", "points": 50} | {field: value}
    with pytest.raises(Malformed) as malformed:
        shop.redeem.execute(**asked)
    assert malformed.value.field == field
    assert shop.balance() == 120
