"""Currencies that Stripe counts in other units than ISO 4217 does."""

from fractions import Fraction

import pytest

from adapters.stripe.amounts import asked, told
from domain.errors import Malformed
from domain.money import MINOR_DIGITS, Money
from domain.operations import Outcome
from tests.adapters.http.scripted_server import ScriptedServer, answer_json
from tests.adapters.stripe.conftest import OpenGateway
from tests.adapters.stripe.operations import charge, intent, refund


@pytest.mark.parametrize(
    ("money", "there"),
    [
        (Money(9899, "JPY"), 9899),
        (Money(500, "KRW"), 500),
        (Money(1799, "USD"), 1799),
        (Money(1230, "KWD"), 1230),
        (Money(500, "ISK"), 50_000),
        (Money(500, "UGX"), 50_000),
        (Money(50_000, "MGA"), 500),
    ],
    ids=str,
)
def test_an_amount_is_asked_for_in_the_units_of_the_provider(money: Money, there: int) -> None:
    """A hundred times too much, or a hundredth, is what B18 is about."""
    assert asked(charge(money=money)) == (there, money.currency.lower())
    assert asked(refund(money=money))[0] == there
    assert told(there, money.currency.lower()) == money


def test_every_other_currency_is_as_it_is() -> None:
    """All that we know, but for the three."""
    others = set(MINOR_DIGITS) - {"ISK", "UGX", "MGA"}
    assert {asked(charge(money=Money(123_450, currency)))[0] for currency in others} == {123_450}


def test_what_the_provider_has_no_unit_for_is_shown_to_a_person(gateway_to: OpenGateway) -> None:
    """It counts whole ariary; nothing is sent."""
    with ScriptedServer(answer_json(200, intent())) as server:
        gateway = gateway_to(server.url)
        assert asked(charge(money=Money(50_050, "MGA")))[0] == Fraction(1001, 2)
        (charged,) = gateway.charge_each([charge(money=Money(50_050, "MGA"))])
        (refunded,) = gateway.refund_each([refund(money=Money(50_050, "MGA"))])
    assert [charged.outcome, refunded.outcome] == [Outcome.FLAGGED, Outcome.FLAGGED]
    assert not server.requests


@pytest.mark.parametrize(("amount", "currency"), [(150, "isk"), (True, "jpy"), (1.5, "jpy"), ("1", "usd"), (1, "xyz")])
def test_what_is_no_money_is_not_believed(amount: object, currency: str) -> None:
    """Half a krona, a float, a currency that nobody has."""
    with pytest.raises(Malformed):
        told(amount, currency)
