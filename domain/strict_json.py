"""JSON as it may come from anywhere, read without guessing: what JSON leaves open is refused."""

import json
import math
from collections import Counter
from typing import Any, Final, NoReturn

from domain.errors import Malformed

MAX_NAME_CHARACTERS: Final = 100  # of a member's name in a complaint


def read_json(text: str | bytes, *, field: str = "body") -> Any:
    """The document, with every object's keys distinct and every number finite.

    Raises: Malformed naming `field`, or the member that stands twice.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        return json.loads(
            decoded.removeprefix("\ufeff"),
            object_pairs_hook=_distinct,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except UnicodeDecodeError as wrong:
        raise Malformed(field, f"is not UTF-8 at byte {wrong.start}") from None
    except json.JSONDecodeError as wrong:
        raise Malformed(field, f"is not JSON: {wrong.msg} at line {wrong.lineno}, column {wrong.colno}") from None
    except ValueError:  # more digits than Python converts, or an exponent that no number has
        raise Malformed(field, "has a number that is out of range") from None
    except RecursionError:
        raise Malformed(field, "is nested too deeply") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise Malformed(twice[:MAX_NAME_CHARACTERS], "stands twice in one object")
    return members


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is out of range")
    return number


def _no_constant(name: str) -> NoReturn:
    raise Malformed(name, "is not a JSON number")
