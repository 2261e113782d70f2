"""Which processes an installation consists of."""

from pathlib import Path
from typing import Any

from pydantic import SecretStr

from entrypoints.settings import Settings
from entrypoints.supervisor import Process, Supervisor


def start_sandbox(supervisor: Supervisor, settings: Settings, *, log: Path | None = None, latency_ms: int = 0) -> str:
    """The outside world on a free port. Returns: its URL."""
    keys = "--carrier-keys" if settings.carrier_honours_keys else "--no-carrier-keys"
    arguments = ["entrypoints.sandbox", "--with-parent", "--port", "0", keys]
    arguments += ["--key-window-hours", str(settings.carrier_key_window_hours)]
    arguments += ["--stripe-keys" if settings.stripe_honours_keys else "--no-stripe-keys"]
    arguments += ["--stripe-key-window-hours", str(settings.stripe_key_window_hours), "--latency-ms", str(latency_ms)]
    # Its ledger lives in its memory: started again, it would know nothing of what happened.
    process = Process("sandbox", arguments, settings.as_environment(), lives_once=True, log=log)
    supervisor.start(process)
    return str(process.announced["url"])


def sandbox_settings(sandbox: str, secret: str) -> dict[str, Any]:
    """The settings that point every provider at this sandbox, which takes any secret."""
    return {
        "carrier_url": sandbox,
        "carrier_token": SecretStr(secret),
        "stripe_api_base": sandbox,
        "stripe_api_key": SecretStr(secret),
    }


def start_api(supervisor: Supervisor, settings: Settings, *, port: int) -> str:
    """The HTTP door. Returns: its URL."""
    process = Process("api", ["entrypoints.api", "--port", str(port)], settings.as_environment())
    supervisor.start(process)
    url = str(process.announced["url"])
    # Started again, it must be found where it was.
    process.arguments = ["entrypoints.api", "--port", url.rpartition(":")[2]]
    return url


def start_crew(
    supervisor: Supervisor, settings: Settings, *, workers: int, threads: int, log: Path | None = None
) -> list[Process]:
    """Dispatcher and workers on the servers that `settings` name. Returns: the workers."""
    environment = settings.as_environment()
    arguments = ["entrypoints.worker", "--threads", str(threads)]
    crew = [Process(f"worker {number}", arguments, environment, log=log) for number in range(1, workers + 1)]
    supervisor.start(Process("dispatcher", ["entrypoints.dispatcher"], environment, log=log), *crew)
    return crew
