"""What the payment provider tells by itself, signed from bare parts, so that no SDK hides a mistake."""

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any, Final

import httpx

SECRET: Final = "whsec_of_the_tests"


def event(kind: str, told: Mapping[str, Any]) -> bytes:
    """A notice's body."""
    return json.dumps({"id": "evt_1", "object": "event", "type": kind, "data": {"object": told}}).encode()


def signature(body: bytes, *, secret: str = SECRET, at: float | None = None) -> str:
    """The header that vouches for a body. Source: docs.stripe.com/webhooks, "Verify manually"."""
    signed_at = int(time.time() if at is None else at)
    digest = hmac.new(secret.encode(), f"{signed_at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={signed_at},v1={digest}"


def refund_told(row: Mapping[str, Any], *, status: str | None = None, with_key: bool = True) -> dict[str, Any]:
    """A refund as the provider tells of it. Shape: `row` is one of the world's ledger."""
    return {
        "id": row["reference"],
        "object": "refund",
        "amount": row["amount"],
        "currency": row["currency"].lower(),
        "status": status or row["status"],
        "payment_intent": row["charge"],
        "metadata": {"ikkai_key": row["key"]} if with_key and row["key"] else {},
    }


def deliver(api: str, kind: str, told: Mapping[str, Any]) -> bool:
    """Sends one notice, as the provider does. Returns: whether it was about anything of ours."""
    body = event(kind, told)
    headers = {"Stripe-Signature": signature(body), "Content-Type": "application/json"}
    answer = httpx.post(f"{api}/webhooks/stripe", content=body, headers=headers, timeout=30, trust_env=False)
    assert answer.status_code == 200, answer.text
    heard: bool = answer.json()["heard"]
    return heard
