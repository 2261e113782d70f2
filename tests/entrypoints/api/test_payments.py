"""`POST /webhooks/stripe`: only what is signed with our secret, and fresh, is believed (contract, section 7)."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from entrypoints.supervisor import Process
from tests.e2e.notices import SECRET, event, signature
from tests.entrypoints.api.server import API_KEYS, NO_BROKER, Api, environment, problem

TOLD = {"id": "pi_1", "object": "payment_intent", "metadata": {"ikkai_key": "billing:nobody:2026-09"}}
PAID = event("payment_intent.succeeded", TOLD)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hook") / "log"


@pytest.fixture(scope="module")
def hook(shared_database_url: str, log: Path) -> Iterator[httpx.Client]:
    """The provider's end of an API that shares a secret with it."""
    servers = {"database_url": shared_database_url, "broker_url": NO_BROKER, "api_keys": API_KEYS}
    settings = environment(**servers, stripe_webhook_secret=SECRET)
    process = Process("api", ["entrypoints.api", "--port", "0"], settings, log=log)
    process.start()
    with httpx.Client(base_url=str(process.announced["url"]), timeout=30, trust_env=False) as client:
        yield client
    process.kill()


def post(hook: httpx.Client, body: bytes, **headers: str) -> httpx.Response:
    return hook.post("/webhooks/stripe", content=body, headers={"Content-Type": "application/json", **headers})


def signed(hook: httpx.Client, body: bytes, **how: Any) -> httpx.Response:
    return post(hook, body, **{"Stripe-Signature": signature(body, **how)})


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("payment_intent.succeeded", TOLD),
        ("payment_intent.succeeded", {"id": "pi_2", "metadata": {}}),
        ("invoice.paid", {"id": "in_1"}),
        ("account.updated", None),
    ],
)
def test_what_concerns_nothing_of_ours_is_taken_and_forgotten(hook: httpx.Client, kind: str, told: Any) -> None:
    """200, or the provider would tell it again for days; no API key is needed, the signature is one."""
    for _ in range(2):
        answer = signed(hook, event(kind, told))
        assert (answer.status_code, answer.json()) == (200, {"heard": False})


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "nonsense",
        "t=,v1=",
        f"t={int(time.time())}",
        f"t={int(time.time())},v1=0123456789abcdef",
        signature(PAID, secret="whsec_of_somebody_else"),
        signature(PAID.replace(b"succeeded", b"canceled")),
        signature(PAID).replace("v1=", "v0="),
        "t=９,v1=１",
    ],
    ids=["none", "empty", "nonsense", "blank", "time", "wrong", "another's", "of another body", "old scheme", "wide"],
)
def test_who_is_not_the_provider_is_not_believed(hook: httpx.Client, header: str | None) -> None:
    """400, and it says that it is the signature."""
    headers = {} if header is None else {"Stripe-Signature": header.encode()}
    answer = hook.post("/webhooks/stripe", content=PAID, headers=headers)  # type: ignore[arg-type]
    assert problem(answer, 400)["field"] == "signature"


def test_an_old_notice_is_not_believed(hook: httpx.Client) -> None:
    """Somebody may have recorded it: five minutes after it was signed it is worth nothing."""
    assert signed(hook, PAID, at=time.time() - 290).status_code == 200
    assert problem(signed(hook, PAID, at=time.time() - 310), 400)["field"] == "signature"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not JSON",
        b"[]",
        b"\xff",
        b"{}",
        event("payment_intent.succeeded", {}),
        event("refund.created", {"id": "re_1", "amount": "ten", "currency": "jpy", "status": "succeeded"}),
        event("refund.created", {"id": "re_1", "amount": 10, "currency": "jpy", "status": "lost"}),
        event("refund.created", {"id": "re\x00", "amount": 10, "currency": "jpy", "status": "succeeded"}),
    ],
)
def test_what_is_signed_and_cannot_be_read_is_no_fault_of_ours(hook: httpx.Client, body: bytes) -> None:
    """A 4xx that names what is wrong, never a 500."""
    answer = signed(hook, body)
    assert answer.status_code in (400, 422), answer.text
    assert problem(answer, answer.status_code)["field"]


def test_without_a_secret_nothing_is_believed(api: Api) -> None:
    """503, so that the provider tells it again when one is set; and it says which variable is missing."""
    answer = api.http.post("/webhooks/stripe", content=PAID, headers={"Stripe-Signature": signature(PAID)})
    assert "IKKAI_STRIPE_WEBHOOK_SECRET" in problem(answer, 503)["detail"]


def test_the_secret_is_told_nobody(hook: httpx.Client, log: Path) -> None:
    """Neither in an answer nor in the log."""
    answer = post(hook, PAID, **{"Stripe-Signature": signature(PAID, secret="another")})
    assert SECRET not in answer.text
    assert SECRET not in log.read_text()
