"""How the API process begins and ends."""

import json
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
from sqlalchemy import Engine, text

from tests.entrypoints.api.server import API_KEYS, ROOT, Api, command, environment, event
from tests.entrypoints.sandbox.world import until

# A parent that starts the command given to it, passes on its announcement, and then does nothing.
PARENT = "import subprocess, sys, time; subprocess.Popen(sys.argv[1:]); time.sleep(600)"
STOP_SECONDS = 10


def listens(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", verify=False).status_code == 200
    except httpx.TransportError:
        return False


def waits_for_a_lock(database: Engine) -> bool:
    query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with database.connect() as connection:
        return connection.execute(text(query)).first() is not None


def refusal_to_start(*options: str, **settings: str) -> str:
    """What the process says before it ends by itself."""
    url = "postgresql://nobody@127.0.0.1:9/none"
    chosen = environment(**{"database_url": url, "api_keys": API_KEYS, **settings})
    ended = subprocess.run(
        command(*options), cwd=ROOT, env=chosen, capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    return ended.stderr


def test_it_says_where_it_is_once_it_answers(own_api: Api) -> None:
    """Whoever reads the announcement may call at once."""
    assert own_api.url.startswith("http://127.0.0.1:")
    assert listens(own_api.url)


def test_a_signal_ends_it_cleanly(own_api: Api) -> None:
    """It ends in order, though a client keeps its connection, and says nothing more."""
    assert own_api.post(event()).status_code == 202
    own_api.process.send_signal(signal.SIGTERM)
    assert own_api.process.wait(STOP_SECONDS) == 0
    assert own_api.log == ""


def test_what_it_has_begun_is_finished_before_it_ends(own_api: Api) -> None:
    """A request under way when the signal comes is stored and answered."""
    one = event()
    with ThreadPoolExecutor() as senders:
        with own_api.database.begin() as blocking:
            blocking.execute(text("LOCK TABLE order_events IN ACCESS EXCLUSIVE MODE"))
            answer = senders.submit(own_api.post, one)
            until(lambda: waits_for_a_lock(own_api.database))
            own_api.process.send_signal(signal.SIGTERM)
            until(lambda: not listens(own_api.url))
        assert answer.result().json()["accepted"] == 1
    assert own_api.process.wait(STOP_SECONDS) == 0
    assert len(own_api.stored(one)) == 1


def test_it_ends_when_its_parent_has_ended() -> None:
    """Nobody is left who could stop it."""
    settings = environment(database_url="postgresql://nobody@127.0.0.1:9/none", api_keys=API_KEYS)
    parent = [sys.executable, "-c", PARENT, *command()]
    with subprocess.Popen(parent, cwd=ROOT, env=settings, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        assert listens(url)
        process.kill()
        until(lambda: not listens(url), STOP_SECONDS)


def test_it_does_not_start_with_keys_it_cannot_read() -> None:
    """The variable and the entry are named, the secret is not, and no traceback hides them."""
    said = refusal_to_start(api_keys="shop=evnts:top-secret")
    assert "IKKAI_API_KEYS: shop: may have only the scopes" in said
    assert "top-secret" not in said
    assert "Traceback" not in said


def test_it_does_not_start_with_other_settings_it_cannot_use() -> None:
    """A bad variable is named."""
    assert "IKKAI_TIME_ZONE" in refusal_to_start(time_zone="Asia/Nowhere")


def test_it_does_not_start_where_it_cannot_listen() -> None:
    """A port in use is said, not shared."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = refusal_to_start("--port", str(taken.getsockname()[1]))
    assert "cannot start" in said
    assert "Traceback" not in said
