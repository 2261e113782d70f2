"""Which processes an installation consists of."""

from entrypoints.settings import Settings
from entrypoints.supervisor import Process, Supervisor


def start_sandbox(supervisor: Supervisor, settings: Settings) -> str:
    """The outside world on a free port. Returns: its URL."""
    keys = "--carrier-keys" if settings.carrier_honours_keys else "--no-carrier-keys"
    window = ("--key-window-hours", str(settings.carrier_key_window_hours))
    arguments = ["entrypoints.sandbox", "--port", "0", keys, *window]
    # Its ledger lives in its memory: started again, it would know nothing of what happened.
    process = Process("sandbox", arguments, settings.as_environment(), lives_once=True)
    return str(supervisor.start(process).announced["url"])


def start_api(supervisor: Supervisor, settings: Settings, *, port: int) -> str:
    """The HTTP door. Returns: its URL."""
    process = Process("api", ["entrypoints.api", "--port", str(port)], settings.as_environment())
    return str(supervisor.start(process).announced["url"])


def start_crew(supervisor: Supervisor, settings: Settings, *, workers: int, threads: int) -> list[Process]:
    """Dispatcher and workers on the servers that `settings` name. Returns: the workers."""
    environment = settings.as_environment()
    supervisor.start(Process("dispatcher", ["entrypoints.dispatcher"], environment))
    arguments = ["entrypoints.worker", "--threads", str(threads)]
    return [supervisor.start(Process(f"worker {number}", arguments, environment)) for number in range(1, workers + 1)]
