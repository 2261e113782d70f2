"""JSON as it may come from anywhere, read without guessing: what JSON leaves open is refused."""

import json
from typing import Any, NoReturn

from domain.errors import Malformed


def read_json(text: str | bytes, *, field: str = "body") -> Any:
    """The document, with every object's keys distinct and every number finite.

    Raises: Malformed naming `field`, or the member that stands twice.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        return json.loads(decoded.removeprefix("\ufeff"), object_pairs_hook=_distinct, parse_constant=_no_constant)
    except UnicodeDecodeError as wrong:
        raise Malformed(field, f"is not UTF-8 at byte {wrong.start}") from None
    except json.JSONDecodeError as wrong:
        raise Malformed(field, f"is not JSON: {wrong.msg} at line {wrong.lineno}, column {wrong.colno}") from None
    except ValueError:  # a number of more digits than Python converts
        raise Malformed(field, "has a number that is too long") from None
    except RecursionError:
        raise Malformed(field, "is nested too deeply") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise Malformed(next(name for name in names if names.count(name) > 1), "stands twice in one object")
    return members


def _no_constant(name: str) -> NoReturn:
    raise Malformed(name, "is not a JSON number")
