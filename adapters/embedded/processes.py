"""Server processes: started apart from us, found again by the folder they stand in, ended in order."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, Signals
from typing import IO

import psutil

from adapters.embedded.accounts import Account
from adapters.embedded.errors import EmbeddedServersUnavailable

POLL_SECONDS = 0.02
# After SIGKILL only the kernel is left to wait for; it may be writing a page to a slow disk.
KILLED_SECONDS = 10.0
# All that a server needs of our environment. The rest stays here: PGPORT and the like would bend it, and secrets
# would be readable by every process of its account.
INHERITED_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")


def wait_until(condition: Callable[[], bool], deadline_seconds: float) -> bool:
    """Polls the condition; False if the deadline passes first."""
    deadline = time.monotonic() + deadline_seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def run(
    command: Sequence[str],
    account: Account,
    folder: Path,
    *,
    standard_input: str = "",
    errors: int | IO[str] = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Runs a command of a server's to its end, safe from a Ctrl-C meant for us."""
    return subprocess.run(
        command,
        check=False,
        cwd=folder,
        env={name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ} | {"LC_ALL": "C"},
        user=None if account.is_current else account.user_id,
        group=None if account.is_current else account.group_id,
        extra_groups=None if account.is_current else [],
        input=standard_input,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        errors="replace",
        start_new_session=True,
    )


def launch(command: Sequence[str], account: Account, folder: Path, log: Path) -> Callable[[], bool]:
    """Starts a server in its folder, in a session of its own and not as our child: it outlives us and our terminal.

    The log begins anew with each start, so that it shows why this one failed; the one before is kept beside it.

    Returns: tells whether the server still lives.
    """
    if log.exists():
        log.replace(log.with_suffix(".previous.log"))
    # The shell leaves at once, so the system, not we, collects the server when it dies.
    detach = ["/bin/sh", "-c", '"$@" >&2 & echo $!', "sh", *command]
    with log.open("w") as log_file:
        process_id = int(run(detach, account, folder, errors=log_file).stdout)

    def is_alive() -> bool:
        # A zombie, dead but not yet collected by whoever inherited it, is still in the system's list.
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(process_id).status() != psutil.STATUS_ZOMBIE
        return False

    return is_alive


@dataclass(frozen=True)
class ServerProcesses:
    """The processes of one server, known by their names and by standing in its data folder.

    A process id written down proves nothing after a crash: the kernel gives it to the next comer. Nobody but our
    server has a process of this name whose working directory is this folder.
    """

    folder: Path
    names: tuple[str, ...]
    id_file: Path

    def standing(self) -> list[psutil.Process]:
        """Every living process of the server, orphans of a killed one included."""
        return [
            process
            for process in psutil.process_iter(["name", "cwd"])
            if process.info["cwd"] == str(self.folder) and any(name in process.info["name"] for name in self.names)
        ]

    def leader(self) -> psutil.Process | None:
        """The server itself, if it runs: what it wrote down as its process id also stands in the folder."""
        try:
            process_id = int(self.id_file.read_text().splitlines()[0])
        except (FileNotFoundError, IndexError, ValueError):
            return None
        return next((process for process in self.standing() if process.pid == process_id), None)

    def end(self, *steps: tuple[Signals, float]) -> None:
        """Asks the server to end by one signal after the other, each with its patience; at last kills what is left.

        Units: seconds of patience.
        Raises: EmbeddedServersUnavailable if even that does not help.
        """
        for signal, patience_seconds in (*steps, (SIGKILL, KILLED_SECONDS)):
            standing = self.standing()
            parents = {process.pid for process in standing}
            for process in standing:
                with suppress(psutil.NoSuchProcess):
                    # A server ends its own children in order; they are signalled only when it is gone, or to kill.
                    if signal == SIGKILL or process.ppid() not in parents:
                        process.send_signal(signal)
            if wait_until(lambda: not self.standing(), patience_seconds):
                return
        ids = ", ".join(str(process.pid) for process in self.standing())
        raise EmbeddedServersUnavailable(f"the server of {self.folder} does not end (process {ids}): end it by hand")
