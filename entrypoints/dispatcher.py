"""One dispatcher process: `python -m entrypoints.dispatcher`, with the URLs of its servers in the environment."""

import threading
import time
from collections.abc import Callable
from typing import Final

import typer

from application.workers import Role
from entrypoints.container import Container, close
from entrypoints.processes import Stop, announce, log_to_stderr, told_alive
from entrypoints.settings import read_process_settings

POLL_SECONDS: Final = 1.0  # what a missed bell costs
SWEEP_SECONDS: Final = 1.0  # what a dead worker's lease costs beyond itself
RECONCILE_SECONDS: Final = 2.0  # how soon a look-up that is due is made
# Between two rounds: a busy inbox rings its bell with every commit, and one look serves many of them.
REST_SECONDS: Final = 0.01


def main() -> None:
    """Rings, sweeps and reconciles until SIGTERM; may run many times over."""
    log_to_stderr()
    stop = Stop(with_parent=True)
    container = Container(settings=read_process_settings("database_url", "broker_url"))
    dispatch, wake = container.dispatch(), container.wake()
    # Each at its own pace: look-ups wait for other machines, and must hold up neither bells nor sweeps.
    for work, seconds in ((dispatch.sweep, SWEEP_SECONDS), (dispatch.reconcile, RECONCILE_SECONDS)):
        threading.Thread(target=_repeat, args=(work, seconds, stop), daemon=True).start()
    announce({"ready": True})
    with told_alive(container.tell_of_workers(), Role.DISPATCHER, stop):
        while not stop.is_set:
            dispatch.ring()
            wake.wait(POLL_SECONDS)
            time.sleep(REST_SECONDS)
    wake.close()
    close(container)


def _repeat(work: Callable[[], None], seconds: float, stop: Stop) -> None:
    while not stop.is_set:
        work()
        time.sleep(seconds)


if __name__ == "__main__":
    typer.run(main)
