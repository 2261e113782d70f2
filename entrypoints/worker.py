"""One worker process: `python -m entrypoints.worker`, with the URLs of its servers in the environment."""

from typing import Annotated, Final

import typer
from dramatiq import Worker

from application.workers import Role
from entrypoints.actors.register import register_actors
from entrypoints.container import Container, close
from entrypoints.processes import Stop, announce, log_to_stderr, told_alive
from entrypoints.settings import read_process_settings

# How long an idle consumer may sleep before it looks at its queue again: the latency of a message on a quiet queue.
IDLE_MILLISECONDS: Final = 100
# Longer than a drain and a call; orchestrators kill after 30 s.
STOP_MILLISECONDS: Final = 25_000


def main(threads: Annotated[int, typer.Option(min=1, max=256)] = 8) -> None:
    """Takes messages until SIGTERM; what it holds by then is finished, the rest put back."""
    log_to_stderr()
    stop = Stop(with_parent=True)
    # Two connections more than threads: nothing waits for the pool.
    container = Container(settings=read_process_settings("database_url", "broker_url"), pool_size=threads + 2)
    broker = register_actors(container, threads=threads, stopping=lambda: stop.is_set)
    worker = Worker(broker, worker_threads=threads, worker_timeout=IDLE_MILLISECONDS)
    worker.broker.emit_after("process_boot")
    worker.start()
    announce({"ready": True})
    with told_alive(container.tell_of_workers(), Role.WORKER, stop):
        stop.wait()
        worker.stop(timeout=STOP_MILLISECONDS)
    close(container)


if __name__ == "__main__":
    typer.run(main)
