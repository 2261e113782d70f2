"""The gateway against the sandbox's Stripe, counted by the sandbox's own ledger of what really happened."""

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from adapters.stripe.payments import StripePaymentGateway
from domain.money import Money
from domain.operations import Finding, Operation, Outcome
from tests.adapters.stripe.conftest import OpenGateway
from tests.adapters.stripe.operations import charge, refund

_numbers = itertools.count(1)


@pytest.fixture
def gateway(gateway_to: OpenGateway, sandbox_url: str) -> StripePaymentGateway:
    """A gateway to the sandbox."""
    return gateway_to(sandbox_url)


@pytest.fixture
def customer_id() -> str:
    """A customer that no other test has."""
    return f"顧客 {next(_numbers)}/x?"


@pytest.fixture
def world(sandbox_url: str) -> Iterator[httpx.Client]:
    """The sandbox as seen from above, without faults before and after."""
    with httpx.Client(base_url=sandbox_url) as client:
        yield client
        client.delete("/_faults")


def script(world: httpx.Client, target: str, operation: Operation, fault: str, times: int = 1) -> None:
    """The next requests for this operation go wrong like that."""
    wish = {"target": target, "match": operation.key, "fault": fault, "times": times}
    world.post("/_faults", json=wish).raise_for_status()


def ledger(world: httpx.Client, customer_id: str, kind: str = "charges") -> list[dict[str, Any]]:
    """The customer's charges, or refunds, that really exist."""
    rows: list[dict[str, Any]] = world.get("/_ledger", params={"customer_id": customer_id}).json()[kind]
    return rows


def paid(gateway: StripePaymentGateway, operation: Operation) -> str:
    """The id of a charge that went well."""
    (answered,) = gateway.charge_each([operation])
    assert answered.outcome is Outcome.DONE, answered
    reference: str = answered.result["reference"]
    return reference


@pytest.mark.parametrize("money", [Money(9899, "JPY"), Money(1799, "USD"), Money(1234, "KWD")], ids=str)
def test_a_charge_is_made_once_found_and_given_back(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str, money: Money
) -> None:
    """B18: the provider sees exactly the minor units that we mean, both ways."""
    bill = charge(customer_id, money)
    (before,) = gateway.look_up_charges([bill])
    first, second = (gateway.charge_each([bill]) for _ in range(2))
    (found,) = gateway.look_up_charges([bill])
    assert before.finding is Finding.NOT_FOUND
    assert first == second
    assert first[0].outcome is Outcome.DONE
    assert (found.finding, found.result) == (Finding.FOUND, first[0].result)
    back = refund(f"r-{customer_id}", money, of=first[0].result["reference"])
    returned, again = (gateway.refund_each([back]) for _ in range(2))
    assert returned == again
    assert gateway.look_up_refunds([back])[0].result == returned[0].result
    (row,) = ledger(world, customer_id)
    (refund_row,) = ledger(world, customer_id, "refunds")
    assert (row["key"], row["amount"], row["currency"]) == (bill.key, money.amount, money.currency)
    assert (refund_row["key"], refund_row["amount"], refund_row["currency"]) == (back.key, money.amount, money.currency)


UNKNOWN_FATES = [
    "reset_after",
    "silent_after",
    "close_after",
    "html",
    "cut_json",
    "status_500_after",
    "bom",
    "maintenance",
]


@pytest.mark.parametrize("fault", UNKNOWN_FATES)
def test_whatever_breaks_after_the_charge_it_is_found_and_made_once(
    gateway_to: OpenGateway, sandbox_url: str, world: httpx.Client, customer_id: str, fault: str
) -> None:
    """B42: looked up first; and resent under its key it is the same charge."""
    gateway = gateway_to(sandbox_url, deadline_seconds=1.5)
    bill = charge(customer_id)
    script(world, "charges", bill, fault)
    (answered,) = gateway.charge_each([bill])
    assert answered.outcome in (Outcome.UNKNOWN, Outcome.UNAVAILABLE)
    (found,) = gateway.look_up_charges([bill])
    (resent,) = gateway.charge_each([bill])
    assert found.finding is Finding.FOUND
    assert (resent.outcome, resent.result) == (Outcome.DONE, found.result)
    assert len(ledger(world, customer_id)) == 1


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("reset_before", Outcome.UNKNOWN),
        ("status_429", Outcome.THROTTLED),
        ("retry_after_7", Outcome.THROTTLED),
        ("replayed_500", Outcome.UNAVAILABLE),
        ("redirect_307", Outcome.UNKNOWN),
    ],
)
def test_what_breaks_before_the_charge_is_not_found(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str, fault: str, outcome: Outcome
) -> None:
    """Nothing was charged, and only the look-up can tell."""
    bill = charge(customer_id)
    script(world, "charges", bill, fault)
    (answered,) = gateway.charge_each([bill])
    assert answered.outcome is outcome
    assert gateway.look_up_charges([bill])[0].finding is Finding.NOT_FOUND
    assert ledger(world, customer_id) == []


def test_a_stored_failure_is_answered_again_and_named(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str
) -> None:
    """Trap 20: until the key is given up, it stays the answer."""
    bill = charge(customer_id)
    script(world, "charges", bill, "replayed_500")
    first, second = (gateway.charge_each([bill])[0] for _ in range(2))
    assert (first.outcome, second.outcome) == (Outcome.UNAVAILABLE, Outcome.UNAVAILABLE)
    assert second.reason.startswith("a stored answer, given before: 500")
    assert ledger(world, customer_id) == []


def test_our_own_earlier_request_is_waited_for(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str
) -> None:
    """Trap 22: a 409 is no failure."""
    bill = charge(customer_id)
    script(world, "charges", bill, "in_progress")
    assert gateway.charge_each([bill])[0].outcome is Outcome.RUNNING


def test_a_key_with_other_content_is_shown_to_a_person(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str
) -> None:
    """B22: the first content stays."""
    paid(gateway, charge(customer_id))
    (answered,) = gateway.charge_each([charge(customer_id, Money(5800, "JPY"))])
    assert answered.outcome is Outcome.FLAGGED
    assert [row["amount"] for row in ledger(world, customer_id)] == [9899]


DECLINED = {
    "pm_card_chargeDeclined": "card_declined/generic_decline",
    "pm_card_chargeDeclinedInsufficientFunds": "card_declined/insufficient_funds",
    "pm_card_authenticationRequired": "authentication_required/authentication_required",
    "pm_card_threeDSecure2Required": "requires_action",
}


@pytest.mark.parametrize(("payment_method", "reason"), DECLINED.items())
def test_a_declined_charge_is_canceled_before_the_next_attempt(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str, payment_method: str, reason: str
) -> None:
    """One bill never has two payable intents."""
    first = charge(customer_id, payment_method=payment_method)
    (declined,) = gateway.charge_each([first])
    (found,) = gateway.look_up_charges([first])
    assert declined.outcome is Outcome.REFUSED
    assert declined.reason.startswith(reason)
    assert (found.finding, found.result) == (Finding.REFUSED, declined.result)
    second = charge(customer_id, attempt=2, replaces=declined.result["reference"])
    assert gateway.charge_each([second]) == gateway.charge_each([second])
    assert [row["status"] for row in ledger(world, customer_id)] == ["canceled", "succeeded"]


def test_an_attempt_is_not_made_where_the_one_before_was_paid_after_all(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str
) -> None:
    """Whatever we believed."""
    reference = paid(gateway, charge(customer_id))
    (answered,) = gateway.charge_each([charge(customer_id, attempt=2, replaces=reference)])
    assert answered.outcome is Outcome.FLAGGED
    assert answered.reason.startswith(f"an earlier attempt was paid after all: {reference}")
    assert answered.result["reference"] == reference
    assert len(ledger(world, customer_id)) == 1


def test_a_bill_below_the_providers_minimum_is_shown_to_a_person(
    gateway: StripePaymentGateway, customer_id: str
) -> None:
    """B15 (e): not the customer's fault, and not retried for ever."""
    (answered,) = gateway.charge_each([charge(customer_id, Money(49, "JPY"))])
    assert answered.outcome is Outcome.FLAGGED
    assert "amount_too_small" in answered.reason


def test_a_charge_in_process_is_stopped_as_a_whole(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str
) -> None:
    """And asked again, it stays stopped."""
    bill = charge(customer_id, payment_method="pm_usBankAccount_processing")
    (running,) = gateway.charge_each([bill])
    assert (running.outcome, running.result["status"]) == (Outcome.RUNNING, "processing")
    stop = refund(f"r-{customer_id}", of=running.result["reference"], void=True)
    assert gateway.look_up_refunds([stop])[0].finding is Finding.NOT_FOUND
    assert gateway.refund_each([stop]) == gateway.refund_each([stop])
    assert gateway.look_up_refunds([stop])[0].finding is Finding.FOUND
    assert gateway.look_up_charges([replace(bill, result=running.result)])[0].finding is Finding.REFUSED
    assert [row["status"] for row in ledger(world, customer_id)] == ["canceled"]
    assert ledger(world, customer_id, "refunds") == []


def test_a_charge_that_was_paid_meanwhile_is_not_stopped(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str
) -> None:
    """It must be refunded instead."""
    (running,) = gateway.charge_each([charge(customer_id, payment_method="pm_usBankAccount_processing")])
    reference = running.result["reference"]
    world.post(f"/_charges/{reference}/succeed").raise_for_status()
    stop = refund(f"r-{customer_id}", of=reference, void=True)
    (answered,) = gateway.refund_each([stop])
    assert (answered.outcome, answered.result["status"]) == (Outcome.REFUSED, "succeeded")
    assert gateway.look_up_refunds([stop])[0].finding is Finding.REFUSED


def test_a_pending_refund_is_waited_for_until_it_fails_or_succeeds(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str
) -> None:
    """Found by its id there."""
    reference = paid(gateway, charge(customer_id, payment_method="pm_card_pendingRefund"))
    back = refund(f"r-{customer_id}", of=reference)
    (pending,) = gateway.refund_each([back])
    assert (pending.outcome, pending.result["status"]) == (Outcome.RUNNING, "pending")
    known = replace(back, result=pending.result)
    assert gateway.look_up_refunds([known])[0].finding is Finding.RUNNING
    world.post(f"/_refunds/{pending.result['reference']}/fail").raise_for_status()
    found = gateway.look_up_refunds([known, back])
    assert [one.finding for one in found] == [Finding.REFUSED, Finding.REFUSED]


def test_more_than_was_paid_cannot_go_back(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str
) -> None:
    """Trap 24: the provider's own limit, should ours ever fail."""
    reference = paid(gateway, charge(customer_id))
    backs = [refund(f"r-{customer_id}-{number}", Money(5800, "JPY"), of=reference) for number in range(2)]
    answers = gateway.refund_each(backs)
    assert Counter(answered.outcome for answered in answers) == {Outcome.DONE: 1, Outcome.REFUSED: 1}
    assert [row["amount"] for row in ledger(world, customer_id, "refunds")] == [5800]


@pytest.mark.parametrize("fault", UNKNOWN_FATES)
def test_whatever_breaks_after_a_refund_it_is_found_and_made_once(
    gateway_to: OpenGateway, sandbox_url: str, world: httpx.Client, customer_id: str, fault: str
) -> None:
    """As with charges."""
    gateway = gateway_to(sandbox_url, deadline_seconds=1.5)
    back = refund(f"r-{customer_id}", of=paid(gateway, charge(customer_id)))
    script(world, "refunds", back, fault)
    (answered,) = gateway.refund_each([back])
    assert answered.outcome in (Outcome.UNKNOWN, Outcome.UNAVAILABLE)
    (found,) = gateway.look_up_refunds([back])
    (resent,) = gateway.refund_each([back])
    assert found.finding is Finding.FOUND
    assert (resent.outcome, resent.result) == (Outcome.DONE, found.result)
    assert len(ledger(world, customer_id, "refunds")) == 1


def test_charges_are_found_behind_more_than_one_page(
    gateway: StripePaymentGateway, world: httpx.Client, customer_id: str
) -> None:
    """Two hundred newer ones of the same customer, and of all customers, lie before the first."""
    now = datetime.now(UTC)
    sent = [
        charge(customer_id, attempt=number, payment_customer=f"cus_{next(_numbers)}" if number > 1 else None)
        for number in (1, 2)
    ]
    crowd = [charge(f"{customer_id}-{number}") for number in range(230)]
    for batch in (sent, crowd):
        assert {answered.outcome for answered in gateway.charge_each(batch)} == {Outcome.DONE}
    asked = [replace(one, first_sent_at=now) for one in (*sent, crowd[0], charge(f"{customer_id}-never"))]
    found = gateway.look_up_charges(asked)
    assert [one.finding for one in found] == [Finding.FOUND] * 3 + [Finding.NOT_FOUND]


def test_two_hundred_charges_go_out_fifty_at_a_time(
    gateway_to: OpenGateway, sandbox_url: str, world: httpx.Client, customer_id: str
) -> None:
    """Set-based: a slow answer to one holds up no other, and each is charged once."""
    bills = [charge(f"{customer_id}-{number}") for number in range(200)]
    script(world, "charges", bills[0], "silent_after")
    began = time.monotonic()
    answers = gateway_to(sandbox_url, deadline_seconds=5.0).charge_each(bills)
    assert time.monotonic() - began < 6.0
    assert Counter(answered.outcome for answered in answers) == {Outcome.DONE: 199, Outcome.UNKNOWN: 1}
    assert answers[0].outcome is Outcome.UNKNOWN
