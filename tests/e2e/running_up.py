"""`ikkai up --sandbox` as somebody types it, in a home of its own."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT, Signals
from typing import Any, Final

import httpx
import psutil

from tests.e2e.commands import IKKAI, Finished, ikkai, in_process
from tests.entrypoints.sandbox.world import World, until

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 40.0
SHORT: Final = {
    "IKKAI_CALL_DEADLINE_SECONDS": "1",
    "IKKAI_LEASE_SECONDS": "4",
    "IKKAI_RETRY_FIRST_SECONDS": "0.1",
    "IKKAI_RETRY_MAX_SECONDS": "1",
    "IKKAI_BROKER_HEARTBEAT_SECONDS": "5",
}


class Home:
    """A folder for one installation, and the commands typed there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        foreign = {name: value for name, value in os.environ.items() if not name.startswith("IKKAI_")}
        self.environment: Mapping[str, str] = foreign | SHORT | {"IKKAI_HOME": str(folder)}

    def ikkai(self, *arguments: str, stdin: str | None = None, **variables: str) -> Finished:
        """Runs a command to its end."""
        return ikkai(*arguments, environment={**self.environment, **variables}, stdin=stdin)

    def type(self, *arguments: str, **variables: str) -> Finished:
        """Runs a command to its end, in this process."""
        return in_process(*arguments, environment={**self.environment, **variables})

    def runtime(self) -> str:
        """What `runtime.json` says, nothing where there is none."""
        try:
            return (self.folder / "runtime.json").read_text()
        except FileNotFoundError:
            return ""

    def processes(self) -> list[psutil.Process]:
        """Every living process of ours in this home, known by its environment; servers have another one."""
        return [process for process in psutil.process_iter() if self._is_at_home(process)]

    def _is_at_home(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get("IKKAI_HOME") == str(self.folder)
        except psutil.Error:
            return False

    def servers(self) -> list[psutil.Process]:
        """Every living process that stands in this home: the embedded servers."""
        return [
            process
            for process in psutil.process_iter(["cwd"])
            if Path(process.info["cwd"] or "/").is_relative_to(self.folder)
        ]


class Up:
    """A running installation: what it says of itself, and its outside world."""

    def __init__(self, home: Home, process: "subprocess.Popen[str]", *, stale: str) -> None:
        """`stale` is what one that was killed has left in `runtime.json`."""
        self.home = home
        self.process = process
        self._stale = stale

    def wait(self) -> None:
        """Waits until it says that everything answers."""
        until(lambda: self.home.runtime() not in ("", self._stale), START_SECONDS)
        self.runtime: dict[str, Any] = json.loads(self.home.runtime())
        self.world = World(self.runtime["sandbox"], self.process)

    def end(self, signal: Signals = SIGINT) -> int:
        """Ends it by a signal. Returns: its exit code."""
        self.process.send_signal(signal)
        self.process.communicate(timeout=STOP_SECONDS)
        return self.process.returncode

    def press_ctrl_c(self) -> int:
        """Ends it as a terminal does: every process of the foreground gets the signal. Returns: its exit code."""
        os.killpg(self.process.pid, SIGINT)
        self.process.communicate(timeout=STOP_SECONDS)
        return self.process.returncode

    def post_event(self, event: dict[str, Any]) -> httpx.Response:
        """Hands an event in as a shop does."""
        key = {"Authorization": f"Bearer {self.runtime['api_key']}", "Content-Type": "application/cloudevents+json"}
        return httpx.post(f"{self.runtime['api']}/v1/events", json=event, headers=key, timeout=30, trust_env=False)


@contextmanager
def temporary_home() -> Iterator[Home]:
    """A home that nothing outlives. Its path is short, as a socket's must be."""
    home = Home(Path(tempfile.mkdtemp(prefix="home-")).resolve())
    try:
        yield home
    finally:
        left_over = home.processes() + home.servers()
        for process in left_over:
            process.kill()
        psutil.wait_procs(left_over)
        shutil.rmtree(home.folder, ignore_errors=True)


@contextmanager
def running_up(home: Home, *, wait: bool = True) -> Iterator[Up]:
    """Starts it and waits until it says that everything answers; ends it if the test has not."""
    stale = home.runtime()
    command = [str(IKKAI), "up", "--sandbox", "--workers", "1", "--threads", "4"]
    process = subprocess.Popen(
        command,
        env=dict(home.environment),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a foreground of its own, as in a terminal
    )
    up = Up(home, process, stale=stale)
    try:
        if wait:
            up.wait()
        yield up
        if process.poll() is None:
            up.end()
    finally:
        process.kill()
        process.communicate()
        if wait:
            up.world.http.close()
