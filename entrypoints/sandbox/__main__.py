"""`python -m entrypoints.sandbox`: starts the outside world, says where it listens, ends at the first signal."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from typing import Annotated, Final

import typer
from aiohttp import web

from entrypoints.sandbox.app import LOOPBACK, SandboxOptions, build_app

BACKLOG: Final = 1024  # a charge loop opens hundreds of connections at once; asyncio's 100 would drop some of them
PARENT_CHECK_SECONDS: Final = 1.0
SHUTDOWN_SECONDS: Final = 0.1  # scripted silences are cut, not waited for (0 would mean "for ever" to aiohttp)


def main(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 = any free one.")] = 0,
    carrier_keys: Annotated[bool, typer.Option(help="Whether the carrier honours Idempotency-Key.")] = True,
    key_window_hours: Annotated[float, typer.Option(min=0, help="How long the carrier remembers a key.")] = 24.0,
    stripe_keys: Annotated[bool, typer.Option(help="Whether the payment provider honours Idempotency-Key.")] = True,
    stripe_key_window_hours: Annotated[float, typer.Option(min=0, help="How long that one remembers a key.")] = 24.0,
    latency_ms: Annotated[int, typer.Option(min=0, help="How long a provider thinks about each request.")] = 0,
    with_parent: Annotated[bool, typer.Option("--with-parent", help="End when the parent process does.")] = False,
) -> None:
    """Start the sandbox on 127.0.0.1 and print {"url": …} once it listens.

    Example: python -m entrypoints.sandbox --port 8900 --no-carrier-keys
    """
    options = SandboxOptions(
        carrier_honours_keys=carrier_keys,
        key_window_hours=key_window_hours,
        latency_ms=latency_ms,
        stripe_honours_keys=stripe_keys,
        stripe_key_window_hours=stripe_key_window_hours,
    )
    asyncio.run(_serve(options, port, os.getppid() if with_parent else None))


async def _serve(options: SandboxOptions, port: int, parent: int | None) -> None:
    stopped = asyncio.Event()
    for ending in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(ending, stopped.set)
    runner = web.AppRunner(build_app(options), access_log=None, shutdown_timeout=SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        await web.TCPSite(runner, LOOPBACK, port, backlog=BACKLOG).start()
        _, bound_port = runner.addresses[0]
        print(json.dumps({"url": f"http://{LOOPBACK}:{bound_port}"}), flush=True)
        while not stopped.is_set() and parent in (None, os.getppid()):
            with suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), PARENT_CHECK_SECONDS)
    except OSError as reason:
        typer.echo(f"cannot listen on {LOOPBACK}:{port}: {reason}", err=True)
        raise typer.Exit(1) from reason
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    typer.run(main)
