"""The installed command `ikkai`, as a person or a script runs it; and the same in this process, which is quicker."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from entrypoints.cli.app import run

IKKAI: Final = Path(sys.executable).with_name("ikkai")
DEADLINE_SECONDS: Final = 120


@dataclass(frozen=True)
class Finished:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its one JSON document."""
        return json.loads(self.out)


def ikkai(*arguments: str, environment: Mapping[str, str], stdin: str | None = None) -> Finished:
    """Runs one command to its end."""
    finished = subprocess.run(
        [IKKAI, *arguments],
        env=dict(environment),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    return Finished(finished.returncode, finished.stdout, finished.stderr)


def in_process(*arguments: str, environment: Mapping[str, str]) -> Finished:
    """Runs one command of those that start no processes, without starting an interpreter for it."""
    out, err = io.StringIO(), io.StringIO()
    with patch.dict(os.environ, environment, clear=True), redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return Finished(code, out.getvalue(), err.getvalue())
