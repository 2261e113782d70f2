"""Progress of long work: a bar on a terminal, nothing in a pipe."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


@contextmanager
def progress(label: str, total: int | None) -> Iterator["Advance"]:
    """A bar on a terminal, nothing in a pipe."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    with bar:
        yield Advance(bar, bar.add_task(label, total=total))


class _Rate(ProgressColumn):
    """How many are done per second."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f}/s")


class Advance:
    """How far the work has come."""

    def __init__(self, bar: Progress, task: Any) -> None:
        self._bar = bar
        self._task = task

    def to(self, completed: int) -> None:
        """Says that so much is done."""
        self._bar.update(self._task, completed=completed)
