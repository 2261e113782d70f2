"""What the house is built by. Each rule reads a tree of source files and names its violations."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

HOUSE: Final = ("domain", "application", "adapters", "entrypoints", "migrations")
MAX_LINES: Final = 320  # "at about 300 lines a file becomes a package"
INNER: Final = ("domain", "application")
FORBIDDEN_NAMES: Final = re.compile(r"(Manager|Helper|Util|Utils|Base|Impl|Data|Info)$")
FORBIDDEN_FILES: Final = ("service.py", "services.py", "utils.py", "helpers.py", "common.py")
# Assembled from parts, so that this file does not break its own rule.
PRIVATE: Final = re.compile(
    "|".join((r"https?://[a-z.]*(py" + "pi|python" + "hosted|npm" + r"js)\.", r"(^|[^a-z])/(ro" + "ot|wo" + "rk)/"))
)


@dataclass(frozen=True)
class Rule:
    """One rule: how it is checked, and a file that breaks it when planted into a copy of the house."""

    name: str
    violations: Callable[[Path], list[str]]
    plant: Mapping[str, str] = field(default_factory=dict)


def sources(tree: Path, *rooms: str) -> Iterator[Path]:
    """The Python files of these rooms."""
    for room in rooms:
        yield from sorted((tree / room).rglob("*.py"))


def imported(file: Path) -> Iterator[str]:
    """The top-level packages that a file imports."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def _only_standard_library(tree: Path) -> list[str]:
    allowed = {"domain": {"domain"}, "application": {"domain", "application"}}
    return [
        f"{file.relative_to(tree)} imports {name}"
        for room, ours in allowed.items()
        for file in sources(tree, room)
        for name in imported(file)
        if name not in sys.stdlib_module_names and name not in ours
    ]


def _no_clock_or_chance(tree: Path) -> list[str]:
    banned = {"time", "random", "secrets", "uuid", "os", "socket", "threading", "asyncio", "subprocess", "pathlib"}
    found = [
        f"{file.relative_to(tree)} imports {name}"
        for file in sources(tree, "domain")
        for name in imported(file)
        if name in banned
    ]
    calls = re.compile(r"\b(datetime|date)\.(now|utcnow|today)\(")
    return found + [
        f"{file.relative_to(tree)} reads a clock" for file in sources(tree, "domain") if calls.search(file.read_text())
    ]


def _small_files(tree: Path) -> list[str]:
    files = [*sources(tree, *HOUSE), *sources(tree, "tests")]
    return [f"{file.relative_to(tree)} is too long" for file in files if len(file.read_text().splitlines()) > MAX_LINES]


def _named_in_the_shops_terms(tree: Path) -> list[str]:
    found = [f"{file.relative_to(tree)}" for file in sources(tree, *HOUSE) if file.name in FORBIDDEN_FILES]
    for file in sources(tree, *HOUSE):
        classes = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ClassDef))
        found += [f"{file.relative_to(tree)}: {node.name}" for node in classes if FORBIDDEN_NAMES.search(node.name)]
    return found


def _documented(tree: Path) -> list[str]:
    found = []
    for file in sources(tree, *HOUSE):
        module = ast.parse(file.read_text())
        if file.read_text().strip() and not ast.get_docstring(module):
            found.append(f"{file.relative_to(tree)} has no docstring")
        found += [
            f"{file.relative_to(tree)}: {node.name} has no docstring"
            for node in module.body
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
            and not _is_plain_enumeration(node)
            and "migrations" not in file.parts
        ]
    return found


def _is_plain_enumeration(node: ast.AST) -> bool:
    """An enumeration whose members say all there is to say."""
    return isinstance(node, ast.ClassDef) and any(
        isinstance(base, ast.Name) and base.id == "StrEnum" for base in node.bases
    )


def _tests_say_what_they_prove(tree: Path) -> list[str]:
    return [
        f"{file.relative_to(tree)}: {node.name}"
        for file in sources(tree, "tests")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]


def _nothing_skipped(tree: Path) -> list[str]:
    skipping = re.compile(r"pytest\.(mark\.)?(skip|skipif|xfail|importorskip)\b")
    return [f"{file.relative_to(tree)}" for file in sources(tree, "tests") if skipping.search(file.read_text())]


def _nothing_private(tree: Path) -> list[str]:
    files = [*sources(tree, *HOUSE, "tests"), *(tree / name for name in ("README.md", "Makefile", "requirements.lock"))]
    return [f"{file.relative_to(tree)}" for file in files if file.exists() and PRIVATE.search(file.read_text())]


def _imports_kept(contract: str) -> Callable[[Path], list[str]]:
    def violations(tree: Path) -> list[str]:
        command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
        linted = subprocess.run(
            [*command, "--contract", contract, "--no-cache", "--no-logo"],
            cwd=tree,
            capture_output=True,
            text=True,
            check=False,
        )
        if linted.returncode == 0:
            return []
        broken = [line for line in linted.stdout.splitlines() if "BROKEN" in line or " -> " in line]
        return broken or [linted.stdout + linted.stderr]

    return violations


RULES: Final = (
    Rule(
        "domain and application import the standard library and each other only",
        _only_standard_library,
        {"domain/bad.py": "import sqlalchemy\n"},
    ),
    Rule("domain knows no clock, chance or machine", _no_clock_or_chance, {"domain/bad.py": "import time\n"}),
    Rule("files are small", _small_files, {"application/bad.py": "x = 1\n" * (MAX_LINES + 1)}),
    Rule(
        "names are the shop's",
        _named_in_the_shops_terms,
        {"application/bad.py": '"""A."""\n\n\nclass OrderManager:\n    """B."""\n'},
    ),
    Rule(
        "public things say what they promise",
        _documented,
        {"application/bad.py": '"""A."""\n\n\ndef ship() -> None:\n    return None\n'},
    ),
    Rule(
        "tests say what they prove",
        _tests_say_what_they_prove,
        {"tests/test_bad.py": "def test_it() -> None:\n    assert True\n"},
    ),
    Rule("no test is skipped", _nothing_skipped, {"tests/test_bad.py": "import pytest\n\npytest." + "skip('later')\n"}),
    Rule(
        "nothing of a machine or a registry is written down",
        _nothing_private,
        {"domain/bad.py": "HOME = '/ro" + "ot/x'\n"},
    ),
    Rule(
        "layers: entrypoints -> adapters -> application -> domain",
        _imports_kept("layers"),
        {"domain/bad.py": "import application.orders\n"},
    ),
    Rule(
        "only the container knows adapters",
        _imports_kept("composition-root"),
        {"entrypoints/bad.py": "import adapters.postgres.tables\n"},
    ),
    Rule("only the container wires", _imports_kept("wiring"), {"application/bad.py": "import dependency_injector\n"}),
    Rule(
        "no adapter's room imports another",
        _imports_kept("rooms"),
        {"adapters/http/bad.py": "import adapters.postgres.tables\n"},
    ),
    Rule(
        "contexts meet only where they may",
        _imports_kept("contexts"),
        {"domain/points.py": "import domain.orders.rules\n"},
    ),
    Rule(
        "the outside world knows nothing of us",
        _imports_kept("sandbox"),
        {"entrypoints/sandbox/bad.py": "import domain.keys\n"},
    ),
)
