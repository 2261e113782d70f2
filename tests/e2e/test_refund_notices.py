"""Refunds told by the provider, by us, or by both: each is one (reports B29, B31)."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.e2e.installation import TOTAL, Installation, running_installation, soon
from tests.e2e.months import BilledMonth, RefundOf
from tests.e2e.notices import SECRET, deliver, refund_told
from tests.entrypoints.sandbox.paying import Bill

AMOUNT = 500
REST = TOTAL - AMOUNT


@dataclass(frozen=True)
class Desk:
    """Where refunds are asked for and told of: a running installation and its API's address."""

    installation: Installation
    api: str

    def paid(self, payment_method: str = "pm_card_visa") -> Bill:
        return BilledMonth(self.installation).paid(payment_method=payment_method)

    def given_back(self, bill: Bill, number: int = 1) -> RefundOf:
        """A refund that the provider has made and told us of."""
        refund = RefundOf(bill, number)
        answer = self.installation.ikkai(*refund.words(AMOUNT))
        assert (answer.code, answer.document["state"]) == (0, "succeeded")
        return refund

    def on_its_way(self, bill: Bill, fault: str) -> RefundOf:
        """A refund that the provider has made and did not yet tell us of."""
        refund = RefundOf(bill)
        self.installation.script("refunds", fault, match=bill.customer_id)
        assert self.installation.ikkai(*refund.words(AMOUNT), "--no-wait").code == 0
        soon(lambda: bool(self.installation.ledger("refunds", refund)))
        return refund

    def state(self, refund: RefundOf) -> str:
        state: str = self.installation.ikkai(*refund.words()).document["state"]
        return state

    def remaining(self, bill: Bill) -> int:
        """What the refusal of more than there ever was says remains."""
        refused = self.installation.ikkai(*RefundOf(bill, 99).words(TOTAL + 1))
        assert refused.code == 1
        found = re.search(r"(\d+) of", refused.document["error"])
        assert found, refused
        return int(found[1])

    def by_hand(self, bill: Bill, amount: int) -> dict[str, object]:
        """Somebody refunds in the provider's dashboard."""
        (paid,) = self.installation.ledger("charges", bill)
        answer = self.installation.world.http.post(f"/_charges/{paid['reference']}/refund", json={"amount": amount})
        row: dict[str, object] = answer.raise_for_status().json()
        return row

    def end_at_the_provider(self, refund: RefundOf, ending: str) -> None:
        (row,) = self.installation.ledger("refunds", refund)
        self.installation.world.http.post(f"/_refunds/{row['reference']}/{ending}").raise_for_status()


@pytest.fixture(scope="module")
def desk(servers: ServerUrls, template: str) -> Iterator[Desk]:
    secret = SecretStr(SECRET)
    with running_installation(servers, template, stripe_webhook_secret=secret) as installation:
        installation.start_dispatcher()
        installation.start_worker(threads=4)
        api = installation.start("entrypoints.api")
        yield Desk(installation, str(api.announced["url"]))


def test_told_after_our_answer(desk: Desk) -> None:
    """Created, and updated, each three times: it is the refund that we know."""
    bill = desk.paid()
    refund = desk.given_back(bill)
    (row,) = desk.installation.ledger("refunds", refund)
    for kind in ("refund.created", "refund.updated", "charge.refund.updated") * 3:
        assert deliver(desk.api, kind, refund_told(row))
    assert (desk.state(refund), desk.remaining(bill)) == ("succeeded", REST)
    assert _origins(desk, bill) == ["ikkai"]


@pytest.mark.parametrize("with_key", [True, False], ids=["with our key", "without"])
def test_told_before_our_answer(desk: Desk, with_key: bool) -> None:
    """The provider was silent to us and told the web hook: one refund of that much, whatever we learn later."""
    bill = desk.paid()
    refund = desk.on_its_way(bill, "silent_after")
    (row,) = desk.installation.ledger("refunds", refund)
    assert deliver(desk.api, "refund.created", refund_told(row, with_key=with_key))
    desk.installation.wait_for(State.COMPLETED, refund)
    assert (desk.state(refund), desk.remaining(bill)) == ("succeeded", REST)
    assert deliver(desk.api, "refund.updated", refund_told(row, with_key=with_key))
    assert desk.remaining(bill) == REST
    assert len(desk.installation.asked("refunds", refund)) == 1


def test_told_while_our_answer_comes_in(desk: Desk) -> None:
    """Three notices at once, beside an answer that drips in: one refund."""
    bill = desk.paid()
    refund = desk.on_its_way(bill, "slow")
    told = refund_told(desk.installation.ledger("refunds", refund)[0])
    with ThreadPoolExecutor() as together:
        heard = [together.submit(deliver, desk.api, "refund.created", told) for _ in range(3)]
    assert all(one.result() for one in heard)
    desk.installation.wait_for(State.COMPLETED, refund)
    assert (desk.state(refund), desk.remaining(bill)) == ("succeeded", REST)
    assert _origins(desk, bill) == ["ikkai"]


def test_a_late_failure_opens_the_charge_again(desk: Desk) -> None:
    """Succeeded, and failed days later: the money can go back once more, under another id, and no further."""
    bill = desk.paid("pm_card_refundFail")
    refund = desk.given_back(bill)
    desk.end_at_the_provider(refund, "fail")
    (row,) = desk.installation.ledger("refunds", refund)
    for kind in ("refund.failed", "refund.updated"):
        assert deliver(desk.api, kind, refund_told(row))
    assert (desk.state(refund), desk.remaining(bill)) == ("failed", TOTAL)
    assert desk.installation.ikkai(*refund.words(AMOUNT)).code == 1
    desk.given_back(bill, 2)
    assert desk.remaining(bill) == REST
    ledger = desk.installation.ledger("refunds", refund, RefundOf(bill, 2))
    assert [row["status"] for row in ledger] == ["failed", "succeeded"]


def test_notices_out_of_order(desk: Desk) -> None:
    """ "Failed" comes before "pending" and "succeeded": failed it stays."""
    bill = desk.paid()
    refund = desk.given_back(bill)
    (row,) = desk.installation.ledger("refunds", refund)
    for kind, status in (("failed", "failed"), ("created", "pending"), ("updated", "succeeded")):
        assert deliver(desk.api, f"refund.{kind}", refund_told(row, status=status))
    assert (desk.state(refund), desk.remaining(bill)) == ("failed", TOTAL)


def test_a_refund_made_by_hand_is_adopted(desk: Desk) -> None:
    """Told three times: one, whose origin is the provider; what remains is less by it, to the last yen."""
    bill = desk.paid()
    desk.given_back(bill)
    row = desk.by_hand(bill, 300)
    for kind in ("refund.created", "refund.updated", "refund.created"):
        assert deliver(desk.api, kind, refund_told(row))
    assert _origins(desk, bill) == ["ikkai", "provider"]
    assert desk.remaining(bill) == REST - 300
    rest = desk.installation.ikkai(*RefundOf(bill, 2).words())
    assert (rest.code, rest.document["amount"]) == (0, REST - 300)
    ledger = desk.installation.world.http.get("/_ledger", params={"customer_id": bill.customer_id}).json()
    assert sum(row["amount"] for row in ledger["refunds"]) == TOTAL


def test_a_refund_made_by_hand_and_never_told_of(desk: Desk) -> None:
    """We ask for more than is left there: the provider refuses, and no money is owed or lost."""
    bill = desk.paid()
    desk.by_hand(bill, TOTAL - 1)
    refund = RefundOf(bill)
    answer = desk.installation.ikkai(*refund.words(AMOUNT))
    assert (answer.code, answer.document["state"]) == (1, "failed")
    assert answer.document["reason"]
    assert desk.installation.ledger("refunds", refund) == []


@pytest.mark.parametrize(
    ("ending", "state", "code", "left"), [("fail", "failed", 1, TOTAL), ("succeed", "succeeded", 0, REST)]
)
def test_pending_at_the_provider_is_pending_here(desk: Desk, ending: str, state: str, code: int, left: int) -> None:
    """It holds its part of the charge until its end is known, without any notice: failed, it gives it free."""
    bill = desk.paid("pm_card_pendingRefund")
    refund = RefundOf(bill)
    answer = desk.installation.ikkai(*refund.words(AMOUNT))
    assert (answer.code, answer.document["state"]) == (0, "pending")
    assert desk.remaining(bill) == REST
    desk.end_at_the_provider(refund, ending)
    soon(lambda: desk.state(refund) == state)
    assert desk.installation.ikkai(*refund.words(AMOUNT)).code == code
    assert desk.remaining(bill) == left
    assert len(desk.installation.asked("refunds", refund)) == 1


def test_nobody_elses_notice_changes_anything(desk: Desk) -> None:
    """Of a payment that we know nothing of: heard of nothing, stored nowhere."""
    row = {"reference": "re_9", "amount": 1, "currency": "JPY", "status": "succeeded", "charge": "pi_9", "key": None}
    before = desk.installation.rows("SELECT count(*) FROM refunds")
    assert not deliver(desk.api, "refund.created", refund_told(row))
    assert not deliver(desk.api, "refund.created", refund_told(row | {"key": "refund:nobody"}))
    assert not deliver(desk.api, "invoice.paid", {"id": "in_1"})
    assert desk.installation.rows("SELECT count(*) FROM refunds") == before


def _origins(desk: Desk, bill: Bill) -> list[str]:
    """Who made each of the refunds that are on our books."""
    query = "SELECT origin FROM refunds WHERE customer_id = :customer ORDER BY seq"
    return [origin for (origin,) in desk.installation.rows(query, customer=bill.customer_id)]
