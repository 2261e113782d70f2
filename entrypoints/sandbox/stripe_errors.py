"""How the payment provider says no: Stripe's error object, its types and codes."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from entrypoints.sandbox.answers import Answer, Wording, json_answer


def stripe_error(
    status: int, error_type: str, message: str, *, code: str | None = None, **more: str | Mapping[str, Any] | None
) -> Answer:
    """Shape: `{"error": {"type", "message", "code", …}}`; what is None is left out, as at Stripe."""
    parts = {"type": error_type, "message": message, "code": code, **more}
    return json_answer(status, {"error": {name: part for name, part in parts.items() if part is not None}})


def invalid_request(
    message: str, param: str | None = None, code: str | None = None, status: int = HTTPStatus.BAD_REQUEST
) -> Answer:
    """The request itself is wrong; `param` names the field."""
    return stripe_error(status, "invalid_request_error", message, code=code, param=param)


def missing(kind: str, name: str, param: str) -> Answer:
    """Nothing of this name exists at the provider."""
    return invalid_request(f"No such {kind}: '{name}'", param, "resource_missing", HTTPStatus.NOT_FOUND)


class StripeRefused(Exception):
    """The request is turned away before anything is executed, so that its key stays free."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def _refuse(status: int, code: str, message: str) -> Answer:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return stripe_error(status, "api_error", message, code=code)
    error_type = "card_error" if status == HTTPStatus.PAYMENT_REQUIRED else "invalid_request_error"
    too_many = status == HTTPStatus.TOO_MANY_REQUESTS
    return stripe_error(status, error_type, message, code="rate_limit" if too_many else code)


WORDING: Final = Wording(
    refuse=_refuse,
    still_running=stripe_error(
        HTTPStatus.CONFLICT,
        "idempotency_error",
        "There is currently another in-progress request using this Idempotent Key.",
        code="idempotency_key_in_use",
    ),
    other_body=stripe_error(
        HTTPStatus.BAD_REQUEST,
        "idempotency_error",
        "Keys for idempotent requests can only be used with the same parameters they were first used with.",
    ),
    repeated=(("Idempotent-Replayed", "true"),),
)
