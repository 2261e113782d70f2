"""Who may call: the keys of IKKAI_API_KEYS, and what each of them opens."""

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from entrypoints.settings import PREFIX, InvalidSettings

VARIABLE: Final = f"{PREFIX}API_KEYS"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_SECRET: Final = re.compile(r"[!-~]+")  # what a header can carry without a second meaning


class Scope(StrEnum):
    """What a key may open."""

    EVENTS = "events"
    POINTS = "points"
    REFUNDS = "refunds"
    OPERATORS = "operators"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A caller. The secret itself is not kept, so that no log can show it."""

    name: str
    scopes: frozenset[Scope]
    digest: bytes


class ApiKeys:
    """All callers of this installation."""

    def __init__(self, keys: Sequence[ApiKey]) -> None:
        self._keys = tuple(keys)

    def owner(self, secret: str) -> ApiKey | None:
        """Whose secret this is. Every key is compared in full, so that the time taken tells nothing."""
        digest = _digest(secret)
        matches = [key for key in self._keys if hmac.compare_digest(key.digest, digest)]
        return matches[0] if matches else None


def parse_api_keys(text: str) -> ApiKeys:
    """Shape: `name=scope+scope:secret,…`; empty text means that nobody may call.

    Raises: InvalidSettings naming the variable and the entry, never the secret.
    """
    entries = text.strip().split(",") if text.strip() else []
    keys: list[ApiKey] = []
    for number, entry in enumerate(entries, 1):
        key = _parse(entry.strip(), number)
        for other in keys:
            if other.name == key.name:
                raise _unreadable(key.name, "this name stands twice")
            if hmac.compare_digest(other.digest, key.digest):
                raise _unreadable(key.name, f"has the same secret as {other.name}")
        keys.append(key)
    return ApiKeys(keys)


def _parse(entry: str, number: int) -> ApiKey:
    name, _, rest = entry.partition("=")
    if not _NAME.fullmatch(name) or not rest:
        # What stands here may be a secret put in the wrong place: it is counted, not quoted.
        raise _unreadable(f"entry {number}", "must look like name=scope+scope:secret")
    scopes, colon, secret = rest.partition(":")
    if not colon or not secret:
        raise _unreadable(name, "has no secret; it must look like name=scope+scope:secret")
    if not _SECRET.fullmatch(secret):
        raise _unreadable(name, "has a secret with white space or letters outside ASCII")
    if not {*scopes.split("+")} <= {*Scope}:
        raise _unreadable(name, f"may have only the scopes {', '.join(Scope)}, joined by +")
    return ApiKey(name, frozenset(map(Scope, scopes.split("+"))), _digest(secret))


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8")).digest()


def _unreadable(entry: str, reason: str) -> InvalidSettings:
    return InvalidSettings(f"{VARIABLE}: {entry}: {reason}")
