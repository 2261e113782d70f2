"""Report B31: what the provider tells by itself is believed if it is signed with our secret and fresh."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import stripe

from adapters.stripe.notices import read_notice
from domain.errors import Malformed, Refused
from domain.money import Money
from domain.payments import CHARGE, REFUND, Notice, RefundState
from tests.adapters.stripe.operations import charge, intent, refund, refund_object

SECRET = "whsec_4711"
NOW = datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)  # nothing here may read the machine's own clock


def event(kind: str, told: Any) -> bytes:
    """A notice's body."""
    return json.dumps({"id": "evt_1", "object": "event", "type": kind, "data": {"object": told}}).encode()


def signature(body: bytes, at: datetime = NOW, secret: str = SECRET) -> str:
    """The header by which the provider vouches for a body."""
    header: str = stripe.WebhookSignature.generate_signature_header(body.decode(), secret, int(at.timestamp()))
    return header


def heard(kind: str, told: Any) -> Notice | None:
    """What an honest notice says."""
    body = event(kind, told)
    return read_notice(body, signature(body), SECRET, now=NOW)


@pytest.mark.parametrize(
    "kind", ["succeeded", "payment_failed", "canceled", "processing", "requires_action", "amount_capturable_updated"]
)
def test_every_notice_of_a_charge_names_it_by_both_keys(kind: str) -> None:
    """How it stands is looked up: a notice may be late."""
    assert heard(f"payment_intent.{kind}", intent()) == Notice(CHARGE, "pi_1", charge().key, paid=kind == "succeeded")


def test_a_charge_that_we_never_asked_for_has_no_key() -> None:
    """Somebody made it at the provider by hand."""
    assert heard("payment_intent.succeeded", intent(metadata={})) == Notice(CHARGE, "pi_1", paid=True)


@pytest.mark.parametrize("kind", ["refund.created", "refund.updated", "refund.failed", "charge.refund.updated"])
@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("pending", RefundState.PENDING),
        ("requires_action", RefundState.PENDING),
        ("succeeded", RefundState.SUCCEEDED),
        ("failed", RefundState.FAILED),
        ("canceled", RefundState.FAILED),
    ],
)
def test_a_notice_of_a_refund_tells_charge_amount_and_state(kind: str, status: str, state: RefundState) -> None:
    """Enough to adopt one that was made by hand."""
    assert heard(kind, refund_object(status=status)) == Notice(
        REFUND, "re_1", refund().key, charge="pi_1", money=Money(9899, "JPY"), state=state
    )


def test_a_refund_made_by_hand_has_no_key() -> None:
    """B31 (e): re_9 of 500."""
    notice = heard("refund.created", refund_object(id="re_9", amount=500, metadata={}))
    assert notice == Notice(REFUND, "re_9", None, "pi_1", Money(500, "JPY"), RefundState.SUCCEEDED)


@pytest.mark.parametrize("kind", ["customer.created", "charge.succeeded", "charge.refunded", "payout.paid"])
def test_other_notices_say_nothing_to_us(kind: str) -> None:
    """They are taken and forgotten."""
    assert heard(kind, {"id": "x_1"}) is None


BODY = event("payment_intent.succeeded", intent())
UNSIGNED = {
    "none": None,
    "empty": "",
    "nonsense": "abc",
    "another secret": signature(BODY, secret="whsec_other"),
    "another body": signature(BODY + b" "),
    "another time": signature(BODY).replace("t=1", "t=2"),
    "no time": signature(BODY).partition(",")[2],
    "an old scheme only": signature(BODY).replace("v1=", "v0="),
    "not ASCII": signature(BODY) + ",v1=é",
    "too old, and hiding it": signature(BODY, NOW - timedelta(seconds=301)).replace(",v1", f"={NOW.timestamp()},v1"),
    "too old": signature(BODY, NOW - timedelta(seconds=301)),
}


@pytest.mark.parametrize("header", UNSIGNED.values(), ids=UNSIGNED.keys())
def test_what_the_provider_does_not_vouch_for_now_is_refused(header: str | None) -> None:
    """Anybody can post to a web hook, and old notices can be posted again."""
    with pytest.raises(Refused) as refused:
        read_notice(BODY, header, SECRET, now=NOW)
    assert refused.value.field == "signature"


def test_without_a_secret_nobody_is_believed() -> None:
    """An empty secret would be everybody's."""
    with pytest.raises(Refused) as refused:
        read_notice(BODY, signature(BODY, secret=""), "", now=NOW)
    assert refused.value.field == "signature"


def test_freshness_is_measured_by_our_clock_alone() -> None:
    """To the second; the machine's clock, years away from NOW, has no say."""
    assert abs(time.time() - NOW.timestamp()) > 300
    at_the_edge = signature(BODY, NOW - timedelta(seconds=300))
    assert read_notice(BODY, at_the_edge, SECRET, now=NOW) is not None
    with pytest.raises(Refused):
        read_notice(BODY, at_the_edge, SECRET, now=NOW + timedelta(seconds=1))


def test_while_a_secret_is_changed_one_right_signature_is_enough() -> None:
    """The provider then signs with both."""
    both = signature(BODY, secret="whsec_old") + "," + signature(BODY).partition(",")[2]
    assert read_notice(BODY, both, SECRET, now=NOW) is not None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"\xff", "body"),
        (b"{", "body"),
        (b"[]", "body"),
        (b"{}", "type"),
        (b'{"type": "payout.paid", "type": "payment_intent.succeeded"}', "type"),
        (b'{"type": "refund.created"}', "data"),
        (b'{"type": "refund.created", "data": {"object": "re_1"}}', "data.object"),
        (event("payment_intent.succeeded", {}), "id"),
        (event("payment_intent.succeeded", intent(metadata={"ikkai_key": 1})), "metadata.ikkai_key"),
        (event("refund.created", refund_object(id="re\n1")), "id"),
        (event("refund.created", refund_object(payment_intent=7)), "payment_intent"),
        (event("refund.created", refund_object(amount=1.5)), "amount"),
        (event("refund.created", refund_object(amount=True)), "amount"),
        (event("refund.created", refund_object(currency="zzz")), "currency"),
        (event("refund.created", refund_object(status="lost")), "status"),
    ],
)
def test_a_signed_notice_that_cannot_be_read_is_refused_by_the_part_that_is_wrong(body: bytes, field: str) -> None:
    """Nothing of it is guessed."""
    header = "t=1,v1=0" if body == b"\xff" else signature(body)
    with pytest.raises(Malformed) as refused:
        read_notice(body, header, SECRET, now=NOW)
    assert refused.value.field == field
