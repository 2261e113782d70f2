"""What comes back from another machine over HTTP: a whole answer, of which nothing is believed yet, or none."""

import codecs
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from domain.errors import Malformed
from domain.operations import Answer, LookUp
from domain.strict_json import read_json

Said = TypeVar("Said", Answer, LookUp)

MAX_BODY_BYTES: Final = 1 << 20  # an answer about one parcel has some hundred bytes; more is no answer to us
MAX_REASON_CHARACTERS: Final = 200  # a reason is a line in a list


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer that arrived whole. `is_replayed`: it says that it was given before, to the same key."""

    status: int
    content_type: str
    body: bytes
    retry_after_seconds: float | None = None
    is_replayed: bool = False

    def content(self) -> Mapping[str, Any] | None:
        """The JSON object it says it carries, None if it does not.

        A byte order mark is not JSON (RFC 8259, 8.1): it tells that something between us rewrote the answer.
        """
        media_type = self.content_type.partition(";")[0].strip().lower()
        is_json = re.fullmatch(r"application/([\w.-]+\+)?json", media_type, re.ASCII)
        if is_json is None or self.body.startswith(codecs.BOM_UTF8):
            return None
        try:
            content = read_json(self.body)
        except Malformed:
            return None
        return content if isinstance(content, dict) else None

    def glimpse(self) -> str:
        """Status, type and body, for people who ask why it was not believed; whoever shows it cuts and cleans it."""
        return f"{self.status} {self.content_type or 'of no type'}: {self.body.decode(errors='replace')}"


class NoReply(Exception):
    """No whole answer. `was_sent` is false only where surely no byte of the request left us."""

    def __init__(self, reason: str, *, was_sent: bool) -> None:
        super().__init__(reason)
        self.was_sent = was_sent


def account_of(secret: str) -> str:
    """Whom we are at a provider, without the secret; where it is reached may change. Shape: 12 hex digits."""
    return hashlib.sha256(secret.encode(errors="surrogateescape")).hexdigest()[:12]


def presentable(all_said: Sequence[Said], secret: str) -> Sequence[Said]:
    """Reasons are stored, logged and shown: one short line each, our secret never in it."""
    return [replace(said, reason=one_line(said.reason, secret)) for said in all_said]


def one_line(text: str, secret: str) -> str:
    """A reason as it is stored, logged and shown: one short line, our secret never in it."""
    shown = (text.replace(secret, "…") if secret else text)[: 5 * MAX_REASON_CHARACTERS]
    line = " ".join("".join(character if character.isprintable() else " " for character in shown).split())
    return line if len(line) <= MAX_REASON_CHARACTERS else line[: MAX_REASON_CHARACTERS - 1] + "…"
