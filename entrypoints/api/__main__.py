"""One API process: `python -m entrypoints.api`, with the database's URL and the API keys in the environment."""

import socket
import sys
import threading
from typing import Annotated, Final

import typer
import uvicorn

from entrypoints.api.app import build_app
from entrypoints.container import Container, close
from entrypoints.processes import Stop, announce, log_to_stderr
from entrypoints.settings import InvalidSettings, read_process_settings

THREADS: Final = 8  # the database's work on two cores; more would only wait there instead of here
KEEP_ALIVE_SECONDS: Final = 5
# Longer than a use case tries to reach its database (15 s); orchestrators kill after 30 s.
STOP_SECONDS: Final = 20
BACKLOG: Final = 1024


def main(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 = any free one.")] = 0,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    body_seconds: Annotated[float, typer.Option(min=0.1, help="How long a request's body may take to come.")] = 60.0,
) -> None:
    """Serves HTTP until SIGTERM; says {"url": …} once it listens, and finishes what it has begun before it ends.

    Example: python -m entrypoints.api --port 8000
    """
    log_to_stderr()
    stop = Stop(with_parent=True)
    try:
        container = Container(settings=read_process_settings("database_url"), pool_size=THREADS)
        app = build_app(container, threads=THREADS, body_seconds=body_seconds)
        listener = socket.create_server((host, port), family=_family(host), backlog=BACKLOG)
    except (InvalidSettings, OSError) as unfit:
        print(f"the API cannot start: {unfit}", file=sys.stderr)
        raise typer.Exit(1) from None
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        log_level="warning",
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    server = _AnnouncedServer(config)
    threading.Thread(target=_end_with_parent, args=(server, stop), daemon=True).start()
    server.run(sockets=[listener])
    close(container)


class _AnnouncedServer(uvicorn.Server):
    """A server that says where it is once it answers."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            host, port = listener.getsockname()[:2]
            announce({"url": f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"})


def _end_with_parent(server: uvicorn.Server, stop: Stop) -> None:
    """Signals are the server's own while it runs; of an ended parent it knows nothing."""
    stop.wait()
    server.should_exit = True


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


if __name__ == "__main__":
    typer.run(main)
