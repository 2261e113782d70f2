"""The processes of one installation: started, watched, started again when one dies, stopped together."""

import json
import logging
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

logger = logging.getLogger(__name__)

START_SECONDS: Final = 30.0  # a cold interpreter on a busy machine
STOP_SECONDS: Final = 28.0  # a worker finishes what it holds in 25; orchestrators kill after 30
RESTART_PAUSE_SECONDS: Final = 0.5


class ProcessFailed(Exception):
    """A process ended before it was ready, or one that must not be started again ended."""


@dataclass
class Process:
    """One child process. `announced` is what it said when it was ready."""

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    lives_once: bool = False
    log: Path | None = None  # where its stderr goes; ours, where none is given
    child: subprocess.Popen[str] | None = None
    announced: Mapping[str, Any] = field(default_factory=dict)

    def launch(self) -> None:
        """Starts it, without waiting until it is ready."""
        command = [sys.executable, "-m", *self.arguments]
        with nullcontext(None) if self.log is None else self.log.open("a") as log:
            self.child = subprocess.Popen(
                command,
                env=dict(self.environment),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                process_group=0,  # Ctrl-C is for us: we stop them in the right order
            )

    def await_ready(self) -> None:
        """Waits until it is ready. Raises: ProcessFailed."""
        assert self.child is not None
        assert self.child.stdout is not None
        ready, _, _ = select.select([self.child.stdout], [], [], START_SECONDS)
        line = self.child.stdout.readline() if ready else ""
        if not line:
            self.kill()
            where = "above" if self.log is None else f"in {self.log}"
            raise ProcessFailed(f"the {self.name} did not get ready; its last words stand {where}")
        self.announced = json.loads(line)

    def start(self) -> None:
        """Starts it and waits until it is ready. Raises: ProcessFailed."""
        self.launch()
        self.await_ready()

    @property
    def pid(self) -> int:
        assert self.child is not None
        return self.child.pid

    def has_ended(self) -> bool:
        return self.child is None or self.child.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        if self.child is not None and self.child.poll() is None:
            os.kill(self.child.pid, number)

    def kill(self) -> None:
        """Ends it at once, as a machine that loses power would."""
        self.signal(signal.SIGKILL)
        if self.child is not None:
            self.child.wait()
            if self.child.stdout is not None:
                self.child.stdout.close()


class Supervisor:
    """Keeps a set of processes alive; leaving it stops them all."""

    def __init__(self) -> None:
        self.processes: list[Process] = []

    def start(self, *processes: Process) -> None:
        """Starts processes side by side and keeps them running from now on.

        Raises: ProcessFailed when one does not get ready.
        """
        self.processes += processes
        for process in processes:
            process.launch()
        for process in processes:
            process.await_ready()

    def tend(self) -> None:
        """Starts again what has ended. Raises: ProcessFailed for a process whose end must not be papered over."""
        for process in self.processes:
            if not process.has_ended():
                continue
            if process.lives_once:
                raise ProcessFailed(f"the {process.name} has ended")
            logger.warning("the %s has ended; starting it again", process.name)
            process.kill()
            time.sleep(RESTART_PAUSE_SECONDS)
            try:
                process.start()
            except ProcessFailed as failure:
                logger.warning("%s; trying again", failure)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # The outside world ends last: work under way may still need it.
        for processes in ([p for p in self.processes if not p.lives_once], [p for p in self.processes if p.lives_once]):
            for process in processes:
                process.signal(signal.SIGTERM)
            until = time.monotonic() + STOP_SECONDS
            for process in processes:
                if process.child is None:
                    continue
                try:
                    process.child.wait(timeout=max(0.1, until - time.monotonic()))
                except subprocess.TimeoutExpired:
                    logger.warning("the %s does not stop; killing it", process.name)
                process.kill()
