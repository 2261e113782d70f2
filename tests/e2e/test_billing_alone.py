"""Billing with nobody there to work: the command charges, refunds and heals by itself (contract, section 6)."""

from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.e2e.commands import ikkai
from tests.e2e.installation import TOTAL, Installation, running_installation, soon
from tests.e2e.months import DECLINED, BilledMonth, RefundOf

NOBODY = "http://127.0.0.1:9"  # port 9 is "discard"


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        yield installation


def test_the_command_charges_itself(installation: Installation) -> None:
    """No worker lives: it charges, waits out a silence, looks up, names the declined; no job is left behind."""
    month = BilledMonth(installation)
    bills = month.subscribers(6)
    month.subscribers(1, payment_method=DECLINED)
    for bill in bills[:2]:
        installation.script("charges", "silent_after", match=bill.customer_id)
    finished = month.type("run")
    counts = {"due": 7, "created": 7, "charged": 6, "declined": 1}
    assert (finished.code, finished.document) == (1, month.report(total={"JPY": 7 * TOTAL}, **counts))
    month.assert_charged_once(bills)
    assert len(installation.asked("charges", *bills)) == 6


def test_the_command_has_nothing_else_to_say(installation: Installation) -> None:
    """One document on stdout and, where all went well, not a word on stderr."""
    month = BilledMonth(installation)
    month.subscribers(1)
    finished = month.type("run")
    assert (finished.code, finished.document["charged"], finished.err) == (0, 1, "")


def test_a_provider_that_cannot_be_reached_is_not_passed_over(servers: ServerUrls, template: str) -> None:
    """Nothing could be charged: that is no success, whatever it is called; and the run ends all the same."""
    with running_installation(
        servers, template, stripe_api_base=NOBODY, retry_first_seconds=10.0, retry_max_seconds=600.0
    ) as installation:
        month = BilledMonth(installation)
        month.subscribers(1)
        finished = month.type("run")
    assert (finished.document["created"], finished.document["charged"]) == (1, 0)
    assert finished.code != 0


def test_a_command_that_does_not_wait_leaves_the_charges(installation: Installation) -> None:
    """`--no-wait` creates the bills and asks nobody for money; the next run does."""
    month = BilledMonth(installation)
    bills = month.subscribers(2)
    finished = month.ikkai("run", "--no-wait")
    assert (finished.code, finished.document) == (0, month.report(due=2, created=2, total={"JPY": 2 * TOTAL}))
    assert installation.asked("charges", *bills) == []
    assert month.ikkai("status").document["open"] == 2
    assert month.type("run").document["charged"] == 2
    month.assert_charged_once(bills)


def test_a_refund_goes_back_once(installation: Installation) -> None:
    """Asked for again: the same answer. With other content, or over what remains: 1. Without an amount: the rest."""
    bill = BilledMonth(installation).paid()
    first, rest = RefundOf(bill, 1), RefundOf(bill, 2)
    environment = installation.settings.as_environment()
    answers = [ikkai(*first.words(700), environment=environment)]
    answers += [installation.ikkai(*first.words(amount)) for amount in (700, None)]
    assert [answer.code for answer in answers] == [0, 0, 0]
    assert answers[0].document == answers[1].document == answers[2].document
    (row,) = installation.ledger("refunds", first)
    assert answers[0].document == {
        "refund_id": first.refund_id,
        "customer_id": bill.customer_id,
        "month": bill.month,
        "amount": 700,
        "currency": "JPY",
        "state": "succeeded",
        "origin": "ikkai",
        "reference": row["reference"],
        "key": first.key,
        "reason": None,
    }
    for refund, amount, part in (
        (first, 701, "known with other content"),
        (rest, TOTAL - 700 + 1, f"{TOTAL - 700} of {TOTAL} JPY remain"),
        (rest, TOTAL, f"{TOTAL - 700} of {TOTAL} JPY remain"),
    ):
        refused = installation.ikkai(*refund.words(amount))
        assert refused.code == 1
        assert part in refused.document["error"]
    answer = ikkai(*rest.words(), environment=environment)
    assert (answer.code, answer.document["amount"]) == (0, TOTAL - 700)
    assert installation.ikkai(*RefundOf(bill, 3).words()).code == 1
    assert [row["amount"] for row in installation.ledger("refunds", first, rest)] == [700, TOTAL - 700]


@pytest.mark.parametrize("amount", ["0", "-1", "1.5", "１", "1e3", "", "9" * 20])
def test_an_amount_that_is_none_is_refused(installation: Installation, amount: str) -> None:
    """2, and it says which field; nothing is stored."""
    asked = ("refunds", "request", "--refund", "r-1", "--customer", "c-1", "--month", "2026-09", "--json")
    refused = installation.ikkai(*asked, "--amount", amount)
    assert (refused.code, refused.document["field"]) == (2, "amount")


def test_what_was_never_paid_is_not_refunded(installation: Installation) -> None:
    """No such customer, no such bill, a declined charge: 1, with the reason."""
    month = BilledMonth(installation)
    (declined,) = month.subscribers(1, payment_method=DECLINED)
    assert month.type("run").code == 1
    for customer_id, part in (("nobody", "was not charged"), (declined.customer_id, "the charge is refused")):
        asked = ("--refund", f"r-{customer_id}", "--customer", customer_id, "--month", month.month, "--json")
        refused = installation.ikkai("refunds", "request", *asked)
        assert refused.code == 1
        assert part in refused.document["error"]


def test_a_charge_in_the_banks_hands_is_stopped(installation: Installation) -> None:
    """Not paid yet: part of it cannot go back, all of it is stopped at the provider, and the bill is not retried."""
    month = BilledMonth(installation)
    (bill,) = month.subscribers(1, payment_method="pm_usBankAccount_processing")
    installation.container.billing_runner().bill_customer(bill.customer_id, bill.month)
    assert installation.operation(bill).result["status"] == "processing"
    part = installation.ikkai(*RefundOf(bill, 1).words(1))
    assert part.code == 1
    assert "as a whole only" in part.document["error"]
    asked = installation.container.request_refund().execute("r-void", bill.customer_id, bill.month)
    installation.container.perform()["refund"].execute(1, key=asked.key)
    assert [row["status"] for row in installation.ledger("charges", bill)] == ["canceled"]
    assert installation.world.http.get("/_ledger", params={"customer_id": bill.customer_id}).json()["refunds"] == []

    def charge_is_refused() -> bool:
        installation.container.perform()["billing"].execute(1, key=bill.key)
        return installation.operation(bill).state is State.REFUSED

    soon(charge_is_refused)
    refused = month.ikkai("retry", "--customer", bill.customer_id)
    assert refused.code == 1
    assert "stopped by refund r-void" in refused.document["error"]
