"""Every rule holds in the house, and fails in a copy with a violation planted.

`pytest tests/architecture -s` prints each rule with the violation it found.
"""

import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.rules import HOUSE, RULES, Rule

ROOT: Final = Path(__file__).parents[2]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_rule_holds(rule: Rule) -> None:
    """The house obeys it."""
    assert rule.violations(ROOT) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_rule_can_fail(rule: Rule, tmp_path: Path) -> None:
    """A planted violation is found, so the rule's silence means something."""
    for room in (*HOUSE, "tests"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name, text in rule.plant.items():
        with (tmp_path / name).open("a") as file:
            file.write(text)
    found = rule.violations(tmp_path)
    print(f"\nrule: {rule.name}\n  can fail: {found[0].strip().splitlines()[0] if found else 'NO'}")
    assert found
