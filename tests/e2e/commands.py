"""The installed command `ikkai`, as a person or a script runs it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

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
