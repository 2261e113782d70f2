"""What a test says to the payment provider: bare HTTP, so that nothing of an SDK hides a wrong answer."""

import uuid
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx

from tests.entrypoints.sandbox.world import World


@dataclass(frozen=True)
class Bill:
    """One monthly bill to charge, of a customer whom no other test knows."""

    customer_id: str = field(default_factory=lambda: f"c-{uuid.uuid4().hex[:12]}")
    month: str = "2026-10"

    @property
    def key(self) -> str:
        return f"billing:{self.customer_id}:{self.month}"

    @property
    def customer(self) -> str:
        return f"cus_{self.customer_id}"

    def form(self, payment_method: str = "pm_card_visa", **other: str) -> dict[str, str]:
        return {
            "amount": "1200",
            "currency": "jpy",
            "customer": self.customer,
            "payment_method": payment_method,
            "payment_method_types[0]": "card",
            "confirm": "true",
            "off_session": "true",
            "metadata[ikkai_key]": self.key,
            "metadata[customer_id]": self.customer_id,
            "metadata[month]": self.month,
            "metadata[bill]": "2026-000001",
        } | other


class Cashier:
    """A client of the payment provider in one world, and what the world's ledger says of a bill."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.http = httpx.Client(base_url=world.url, headers={"Authorization": "Bearer sk_test_1"}, timeout=10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.http.close()

    def post(self, path: str, key: str | None, form: dict[str, str] | None = None) -> httpx.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.http.post(path, headers=headers, data=form or {})

    def charge(self, bill: Bill, payment_method: str = "pm_card_visa", **other: str) -> httpx.Response:
        return self.post("/v1/payment_intents", bill.key, bill.form(payment_method, **other))

    def paid(self, bill: Bill, payment_method: str = "pm_card_visa", **other: str) -> dict[str, Any]:
        """Charges without a fault, for tests that begin with a payment."""
        answer = self.charge(bill, payment_method, **other)
        assert answer.status_code == 200, answer.text
        intent: dict[str, Any] = answer.json()
        return intent

    def cancel(self, intent_id: str, key: str | None = None) -> httpx.Response:
        return self.post(f"/v1/payment_intents/{intent_id}/cancel", key)

    def refund(self, intent: dict[str, Any], refund_id: str, **other: str) -> httpx.Response:
        key = f"refund:{refund_id}"
        form = {"payment_intent": intent["id"], "metadata[ikkai_key]": key}
        return self.post("/v1/refunds", key, form | other)

    def get(self, path: str, **query: str) -> dict[str, Any]:
        content: dict[str, Any] = self.http.get(path, params=query).raise_for_status().json()
        return content

    def ledger(self, bill: Bill, kind: str = "charges") -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.get("/_ledger", customer_id=bill.customer_id)[kind]
        return rows

    def script(self, fault: str, match: str, target: str = "charges", times: int | None = 1) -> None:
        wish = {"target": target, "match": match, "fault": fault, "times": times}
        self.http.post("/_faults", json=wish).raise_for_status()


def error(answer: httpx.Response) -> dict[str, Any]:
    """What the provider says is wrong."""
    said: dict[str, Any] = answer.json()["error"]
    return said
