"""The key book of one provider: who sends the same `Idempotency-Key` again gets the same answer, not the same work."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from entrypoints.sandbox.answers import Answer


class KeyRefusal(Enum):
    """Why a key in use lets no work begin; how that is worded is the provider's business."""

    STILL_RUNNING = "still_running"
    OTHER_BODY = "other_body"


class KeyUse:
    """One use of a key: free to work while `answer` is None, and settled for good once it is not."""

    __slots__ = ("answer", "began_at_seconds", "fingerprint")

    def __init__(self, fingerprint: bytes = b"", began_at_seconds: float = 0.0) -> None:
        self.fingerprint = fingerprint
        self.began_at_seconds = began_at_seconds
        self.answer: Answer | None = None

    def settle(self, answer: Answer) -> Answer:
        """Keeps the answer for every repeat; harmless on a use that the book has forgotten meanwhile."""
        self.answer = answer
        return answer


class KeyBook:
    """Which keys were used, with which content, and what was answered, for as long as the provider remembers."""

    def __init__(self, window_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._window_seconds = window_seconds
        self._clock = clock
        self._uses: dict[str, KeyUse] = {}

    def begin(self, key: str, fingerprint: bytes) -> KeyUse | KeyRefusal:
        """The right to work under this key, or the use whose answer is to be repeated.

        Key: the window counts from the first use, so a key that is older is a new key, as at real providers.
        Returns: a use without answer: work and settle it; a use with an answer: repeat that; a refusal: say so.
        """
        now_seconds = self._clock()
        use = self._uses.get(key)
        if use is None or now_seconds - use.began_at_seconds >= self._window_seconds:
            self._uses[key] = fresh = KeyUse(fingerprint, now_seconds)
            return fresh
        if use.fingerprint != fingerprint:
            return KeyRefusal.OTHER_BODY
        return KeyRefusal.STILL_RUNNING if use.answer is None else use

    def forget_all(self) -> None:
        """Every key is past its window at once; what still runs under one goes on, but protects nobody any more."""
        self._uses.clear()


def fingerprint(path: str, body: Mapping[str, Any]) -> bytes:
    """What makes two requests the same: where they go and what they say, whatever the order of their fields."""
    canonical = json.dumps([path, body], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode(), digest_size=16).digest()  # 16 bytes: no collision in 2^64 requests
