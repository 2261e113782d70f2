"""`ikkai demo`: the promise, watched. Real servers, real workers, doubled deliveries, a killed worker, one table."""

import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from entrypoints.cli.output import FAILED, AsJson, print_json, print_table
from entrypoints.demo.run import DemoPlan, run_demo

COLUMNS: Final = ("effect", "delivered", "owed", "done", "twice", "lost")


def demo(
    events: Annotated[int, typer.Option(min=1, max=1_000_000, help="Order events.")] = 1000,
    redeliver: Annotated[float, typer.Option(min=0, max=10, help="Extra deliveries, as a share of the events.")] = 0.3,
    kill: Annotated[bool, typer.Option("--kill/--no-kill", help="Kill a worker in the middle.")] = True,
    keep: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the demo's data here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Shows that each effect happens once. Example: ikkai demo --events 20000 --redeliver 0.5

    Touches nothing that is configured: its own servers, its own outside world, a fresh folder.
    """
    started = time.monotonic()
    home = Path(tempfile.mkdtemp(prefix="ikkai-demo-")) if keep is None else keep
    try:
        result = run_demo(DemoPlan(home=home, events=events, redeliver=redeliver, kill=kill))
    finally:
        if keep is None:
            shutil.rmtree(home, ignore_errors=True)
    effects = [effect.as_row() for effect in result.effects]
    seconds = round(time.monotonic() - started, 1)
    if as_json:
        print_json({"effects": effects, "killed_workers": result.killed_workers, "seconds": seconds})
    else:
        print_table(effects, COLUMNS, empty="nothing was delivered")
        print(
            f"{result.killed_workers} workers killed, {seconds} s; "
            "points counted in the ledger, all else in the books of the outside world"
        )
    if any(effect.twice or effect.lost for effect in result.effects):
        raise typer.Exit(FAILED)
