"""One dispatcher process: `python -m entrypoints.dispatcher`, with the URLs of its servers in the environment."""

import threading
import time
from typing import Final

import typer

from application.dispatch import Dispatch
from entrypoints.container import Container
from entrypoints.processes import Stop, announce, log_to_stderr
from entrypoints.settings import read_process_settings

POLL_SECONDS: Final = 1.0  # what a missed bell costs
TIDY_SECONDS: Final = 1.0  # what a dead worker's lease costs beyond itself
# Between two rounds: a busy inbox rings its bell with every commit, and one look serves many of them.
REST_SECONDS: Final = 0.01


def main() -> None:
    """Rings, sweeps and reconciles until SIGTERM; may run many times over."""
    log_to_stderr()
    stop = Stop(with_parent=True)
    container = Container(settings=read_process_settings("database_url", "broker_url"))
    dispatch, wake = container.dispatch(), container.wake()
    # Look-ups wait for other machines: they must not hold up the bells.
    tidying = threading.Thread(target=_tidy, args=(dispatch, stop), daemon=True)
    tidying.start()
    announce({"ready": True})
    while not stop.is_set:
        dispatch.ring()
        wake.wait(POLL_SECONDS)
        time.sleep(REST_SECONDS)
    wake.close()
    container.engine().dispose()


def _tidy(dispatch: Dispatch, stop: Stop) -> None:
    while not stop.is_set:
        dispatch.tidy()
        time.sleep(TIDY_SECONDS)


if __name__ == "__main__":
    typer.run(main)
