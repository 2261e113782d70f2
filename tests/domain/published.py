"""Examples that others have published, with what must come out."""

import json
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "vectors"


def published(name: str) -> list[dict[str, Any]]:
    """The examples of one file; each says where it was published."""
    examples: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    assert all(one["source"] for one in examples)
    return examples


def standard(name: str) -> dict[str, Any]:
    """A published table, which says where it was published."""
    table: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    assert table["source"]
    return table


def source_of(example: object) -> str:
    """An example's name in a report of tests."""
    return str(example["source"]) if isinstance(example, dict) else str(example)
