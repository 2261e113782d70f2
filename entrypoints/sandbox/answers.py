"""What the outside world says back: one answer, whole and honest, before any fault spoils it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer as bytes, so that a repeat of it under the same key is the same to the byte."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()  # pairs, since a sloppy server may send one header twice


def json_answer(status: int, content: Mapping[str, Any]) -> Answer:
    """An answer that carries one JSON object."""
    return Answer(status, json.dumps(content).encode())


def refusal(status: int, code: str, message: str, field: str | None = None) -> Answer:
    """A definite no, with a code for programs and a sentence for people."""
    error = {"code": code, "message": message}
    return json_answer(status, {"error": error if field is None else {**error, "field": field}})


@dataclass(frozen=True, slots=True)
class Wording:
    """How one provider says what all of them have to say; `refuse` takes a status, a code and a sentence.

    Shape: `repeated` are headers that tell the repeat of an answer from the first one.
    """

    refuse: Callable[[int, str, str], Answer]
    still_running: Answer
    other_body: Answer
    repeated: tuple[tuple[str, str], ...] = ()
