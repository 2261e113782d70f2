"""`ikkai up` and `ikkai work`: everything, or the workers alone, in the foreground."""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import SecretStr

from domain.errors import Refused
from entrypoints.api.keys import Scope, parse_api_keys
from entrypoints.cli.output import WAITING, AsJson
from entrypoints.container import Container, open_container
from entrypoints.crew import sandbox_settings, start_api, start_crew, start_sandbox
from entrypoints.processes import Stop
from entrypoints.settings import Settings, read_settings
from entrypoints.supervisor import Supervisor

Workers = Annotated[int, typer.Option(min=1, max=64, help="Worker processes.")]
Threads = Annotated[int, typer.Option(min=1, max=256, help="Threads of each.")]

TEND_SECONDS: Final = 0.5


def up(
    workers: Workers = 2,
    threads: Threads = 8,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The API's port; 0 = any free one.")] = 0,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="With an outside world to play in.")] = False,
    as_json: AsJson = False,
) -> None:
    """Runs everything in the foreground until Ctrl-C. Example: ikkai up --sandbox"""
    stop = Stop(with_parent=False)
    settings = read_settings()
    with only_one(settings.home), open_container(settings) as container, Supervisor() as supervisor:
        settings = container.settings()
        file = settings.home / "runtime.json"
        file.unlink(missing_ok=True)  # a killed one's addresses
        outside = start_sandbox(supervisor, settings) if sandbox else None
        settings, api_key = _with_outside(settings, outside)
        api = start_api(supervisor, settings, port=port)
        start_crew(supervisor, settings, workers=workers, threads=threads)
        addresses = {
            "api": api,
            "api_key": api_key,
            "sandbox": outside,
            "database_url": settings.database_url,
            "broker_url": settings.broker_url,
        }
        try:
            _write_whole(file, addresses)
            shown = {"api": api, "sandbox": outside, "keys and servers": str(file)}
            if as_json:
                print(json.dumps(shown), flush=True)
            else:
                for name, value in shown.items():
                    print(f"{name:<17} {value or '-'}")
                print("running; Ctrl-C stops", flush=True)
            while not stop.is_set:
                supervisor.tend()
                time.sleep(TEND_SECONDS)
        finally:
            file.unlink(missing_ok=True)


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Holds the home for one `ikkai up`, however it ends. Raises: Refused while another runs."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "up.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"another ikkai up runs in {home}; give this one an IKKAI_HOME of its own") from None
        yield


def work(
    workers: Workers = 2,
    threads: Threads = 8,
    until_idle: Annotated[bool, typer.Option("--until-idle", help="Stop when nothing is due.")] = False,
    as_json: AsJson = False,
) -> None:
    """Runs the dispatcher and workers in the foreground; exit code 3 when something waits for a person.

    Example: ikkai work --until-idle
    """
    stop = Stop(with_parent=False)
    with open_container(read_settings()) as container, Supervisor() as supervisor:
        start_crew(supervisor, container.settings(), workers=workers, threads=threads)
        while not stop.is_set and not (until_idle and is_idle(container)):
            supervisor.tend()
            time.sleep(TEND_SECONDS)
        waiting = container.read_operations().waiting_for_a_person()
    if as_json:
        print(json.dumps({"waits_for_a_person": waiting}))
    if waiting:
        raise typer.Exit(WAITING)


def is_idle(container: Container) -> bool:
    """Whether nothing is due now and nothing is being done."""
    return container.owed_work().execute() == 0


def _with_outside(settings: Settings, sandbox: str | None) -> tuple[Settings, str | None]:
    """Points all providers at the sandbox, and makes an API key where there is none.

    Raises: InvalidSettings for API keys that cannot be read.
    """
    changes: dict[str, Any] = {}
    configured = settings.api_keys.get_secret_value()
    parse_api_keys(configured)
    api_key = None
    if sandbox is not None:
        # Also where real ones are configured: who plays must neither book nor charge.
        changes |= sandbox_settings(sandbox, "sandbox")
        if not configured:
            api_key = secrets.token_urlsafe(24)
            changes["api_keys"] = SecretStr(f"sandbox={'+'.join(Scope)}:{api_key}")
    return settings.model_copy(update=changes), api_key


def _write_whole(file: Path, document: dict[str, Any]) -> None:
    """Readers see the whole file or none; it holds a key, so only its owner may read it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.touch(mode=0o600)
    partial.write_text(json.dumps(document, indent=2))
    os.replace(partial, file)
