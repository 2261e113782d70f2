"""Messages nobody could take, in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from application.transactions import Clock


class InMemoryDeadLetters:
    """`DeadLetters` over a list."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._letters: list[Mapping[str, Any]] = []

    def keep(self, queue: str, body: bytes, reason: str) -> None:
        text = body.decode("utf-8", "replace")
        if any((letter["queue"], letter["body"]) == (queue, text) for letter in self._letters):
            return
        letter = {"received_at": self._clock.now(), "queue": queue, "body": text, "reason": reason}
        self._letters.append({"letter_id": len(self._letters) + 1, **letter})

    def find(self, limit: int | None) -> Sequence[Mapping[str, Any]]:
        return self._letters[::-1][:limit]
