"""The gateway against localstripe, somebody else's idea of Stripe: it refuses unknown fields and knows no keys."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from adapters.stripe.payments import StripePaymentGateway
from domain.money import Money
from domain.operations import Finding, Operation, Outcome
from tests.adapters.stripe.conftest import API_KEY, OpenGateway
from tests.adapters.stripe.operations import PRICE, charge, refund

# Test cards. Source: docs.stripe.com/testing
PAYS = "4242424242424242"
DECLINES_WHEN_CHARGED = "4000000000000341"
ASKS_THE_CUSTOMER = "4000002760003184"


@pytest.fixture
def gateway(gateway_to: OpenGateway, localstripe_url: str) -> StripePaymentGateway:
    """A gateway to localstripe."""
    return gateway_to(localstripe_url)


@pytest.fixture
def world(localstripe_url: str) -> Iterator[httpx.Client]:
    """localstripe as its other clients see it."""
    with httpx.Client(base_url=localstripe_url, auth=(API_KEY, "")) as client:
        yield client


def made(world: httpx.Client, path: str, **fields: Any) -> str:
    """The id of something new there."""
    answer = world.post(path, data=fields).raise_for_status()
    made_id: str = answer.json()["id"]
    return made_id


def bill_for(world: httpx.Client, card: str, money: Money = PRICE, **other: Any) -> Operation:
    """A bill of a customer who has this card."""
    customer = made(world, "/v1/customers")
    details = {"card[number]": card, "card[exp_month]": "12", "card[exp_year]": "2030", "card[cvc]": "123"}
    method = made(world, "/v1/payment_methods", type="card", **details)
    world.post(f"/v1/payment_methods/{method}/attach", data={"customer": customer}).raise_for_status()
    return charge(customer, money, payment_method=method, payment_customer=customer, **other)


@pytest.mark.parametrize("money", [Money(9899, "JPY"), Money(1799, "USD"), Money(1234, "KWD")], ids=str)
def test_a_charge_is_made_found_by_its_id_and_given_back(
    gateway: StripePaymentGateway, world: httpx.Client, money: Money
) -> None:
    """Nothing of our requests is unknown to it."""
    bill = bill_for(world, PAYS, money)
    (answered,) = gateway.charge_each([bill])
    assert answered.outcome is Outcome.DONE, answered
    reference = answered.result["reference"]
    seen = world.get(f"/v1/payment_intents/{reference}").json()
    assert (seen["amount"], seen["currency"], seen["status"]) == (money.amount, money.currency.lower(), "succeeded")
    assert seen["metadata"]["ikkai_key"] == bill.key
    known = charge(bill.subject, money, result=answered.result)
    assert gateway.look_up_charges([known])[0].result == answered.result
    back = refund(f"r-{bill.subject}", money, of=reference)
    (returned,) = gateway.refund_each([back])
    assert returned.outcome is Outcome.DONE, returned
    (found,) = gateway.look_up_refunds([back])
    assert (found.finding, found.result) == (Finding.FOUND, returned.result)


def test_it_knows_no_keys(gateway: StripePaymentGateway, world: httpx.Client) -> None:
    """So it stands for the providers at which a charge of unknown fate must never be sent again."""
    bill = bill_for(world, PAYS)
    first, second = (gateway.charge_each([bill])[0] for _ in range(2))
    assert (first.outcome, second.outcome) == (Outcome.DONE, Outcome.DONE)
    assert first.result["reference"] != second.result["reference"]


def test_a_list_that_it_cannot_narrow_down_answers_nothing(gateway: StripePaymentGateway, world: httpx.Client) -> None:
    """It refuses to list by customer, which is no proof of anything."""
    assert gateway.look_up_charges([bill_for(world, PAYS)])[0].finding is Finding.UNCLEAR


def test_a_decline_is_refused(gateway: StripePaymentGateway, world: httpx.Client) -> None:
    """It shows no intent with it."""
    (answered,) = gateway.charge_each([bill_for(world, DECLINES_WHEN_CHARGED)])
    assert answered.outcome is Outcome.REFUSED
    assert answered.reason == "card_declined: Your card was declined."


def test_a_charge_that_waits_for_the_customer_is_canceled_before_the_next_attempt(
    gateway: StripePaymentGateway, world: httpx.Client
) -> None:
    """Once, and seen to be canceled when asked again."""
    (waiting,) = gateway.charge_each([bill_for(world, ASKS_THE_CUSTOMER)])
    assert waiting.outcome is Outcome.REFUSED
    replaced = waiting.result["reference"]
    for _ in range(2):
        (answered,) = gateway.charge_each([bill_for(world, PAYS, attempt=2, replaces=replaced)])
        assert answered.outcome is Outcome.DONE, answered
        assert world.get(f"/v1/payment_intents/{replaced}").json()["status"] == "canceled"


def test_a_payment_method_that_it_does_not_know_is_refused(gateway: StripePaymentGateway) -> None:
    """A definite no."""
    (answered,) = gateway.charge_each([charge(payment_method="pm_gone")])
    assert answered.outcome is Outcome.REFUSED
    assert answered.reason.startswith("404")
