"""How a request to the payment provider is read: form-encoded, nested by brackets, every field checked by name."""

import base64
import binascii
import re
from collections.abc import Awaitable, Callable, Collection
from typing import Final
from urllib.parse import parse_qsl

from aiohttp import web
from aiohttp.typedefs import Handler

from entrypoints.sandbox.front_desk import FrontDesk
from entrypoints.sandbox.stripe_errors import StripeRefused, invalid_request, stripe_error

Form = dict[str, str | dict[str, str]]

FORM_TYPE: Final = "application/x-www-form-urlencoded"
MAX_KEY_CHARACTERS: Final = 255  # Stripe's limits, here and in the next line
MAX_METADATA_CHARACTERS: Final = 500
MAX_MINOR_UNITS: Final = 2**63 - 1
_WHOLE: Final = re.compile(r"[0-9]{1,19}")
_NAME: Final = re.compile(r"([^\[\]]+)(?:\[([^\[\]]*)\])?")


def guarded(desk: FrontDesk, serve: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> Handler:
    """A door that lets in only who brings an API key, and turns away what is not even well-formed."""

    async def served(request: web.Request) -> web.StreamResponse:
        try:
            _check_headers(request)
            return await serve(request)
        except StripeRefused as refused:
            return desk.turn_away(request, refused.answer)

    return served


async def read_form(request: web.Request, known: Collection[str]) -> Form:
    """The fields of the body, or of the query of a GET. Raises: StripeRefused for a field that is not `known`."""
    if request.method == "GET":
        return decoded(request.rel_url.raw_query_string, known)
    body = await request.read()
    if body and request.content_type != FORM_TYPE:
        raise StripeRefused(invalid_request(f"The body must be {FORM_TYPE}"))
    try:
        return decoded(body.decode("ascii"), known)
    except UnicodeDecodeError as reason:
        raise StripeRefused(invalid_request("The body must be percent-encoded")) from reason


def decoded(text: str, known: Collection[str]) -> Form:
    """Shape: `a=1&b[c]=2&d[]=3` is `{"a": "1", "b": {"c": "2"}, "d": {"0": "3"}}`."""
    form: Form = {}
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict")
    except ValueError as reason:
        raise StripeRefused(invalid_request("The fields must be UTF-8, percent-encoded")) from reason
    for full_name, value in pairs:
        found = _NAME.fullmatch(full_name)
        if found is None or found[1] not in known:
            message = f"Received unknown parameter: {full_name}"
            raise StripeRefused(invalid_request(message, full_name, "parameter_unknown"))
        name, part = found.groups()
        if part is None:
            form[name] = value
            continue
        parts = form.setdefault(name, {})
        if isinstance(parts, str):
            raise StripeRefused(invalid_request("Is both a value and an object", name))
        parts[part or str(len(parts))] = value
    return form


def text(form: Form, name: str) -> str | None:
    """A single value; an empty one is none."""
    value = form.get(name)
    if isinstance(value, dict):
        raise StripeRefused(invalid_request("Invalid string", name))
    return value or None


def required(form: Form, name: str) -> str:
    """A single value that must be there."""
    value = text(form, name)
    if value is None:
        raise StripeRefused(invalid_request(f"Missing required param: {name}.", name, "parameter_missing"))
    return value


def whole(name: str, value: str, at_most: int = MAX_MINOR_UNITS) -> int:
    """A whole number from 0; `name` is whom to blame if it is none."""
    if not _WHOLE.fullmatch(value) or int(value) > at_most:
        message = f"Invalid integer, or not from 0 to {at_most}: {value[:20]}"
        raise StripeRefused(invalid_request(message, name, "parameter_invalid_integer"))
    return int(value)


def parts(form: Form, name: str) -> dict[str, str]:
    """The parts of a field with brackets, none if it is not there."""
    value = form.get(name, {})
    if not isinstance(value, dict):
        raise StripeRefused(invalid_request("Invalid object", name))
    return value


def metadata(form: Form) -> dict[str, str]:
    """What the client notes on an object; empty values are not kept."""
    noted = parts(form, "metadata")
    for name, value in noted.items():
        if len(value) > MAX_METADATA_CHARACTERS:
            message = f"Metadata values can have up to {MAX_METADATA_CHARACTERS} characters"
            raise StripeRefused(invalid_request(message, f"metadata[{name}]"))
    return {name: value for name, value in noted.items() if value}


def _check_headers(request: web.Request) -> None:
    if not _api_key(request.headers.get("Authorization", "")):
        message = "You did not provide an API key, as Authorization: Bearer or as the user of Basic."
        raise StripeRefused(stripe_error(401, "invalid_request_error", message))
    if len(request.headers.get("Idempotency-Key", "")) > MAX_KEY_CHARACTERS:
        raise StripeRefused(invalid_request(f"Idempotency-Key can have up to {MAX_KEY_CHARACTERS} characters"))


def _api_key(authorization: str) -> str:
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip()
    try:
        user, _, _ = base64.b64decode(credentials, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return user if scheme.lower() == "basic" else ""
