"""The API as a process, and what tests say to it and look up behind its back."""

import itertools
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from sqlalchemy import Engine, text

from adapters.postgres.engine import open_engine

ROOT: Final = Path(__file__).parents[3]
ONE: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"
SECRET: Final = "s3cret-of-the-shop"
READER: Final = "s3cret-of-a-reader"
API_KEYS: Final = f"shop=events+points:{SECRET},reader=points:{READER}"
# Nothing listens there (port 9 is "discard"): whoever rings a bell in this process would fail.
NO_BROKER: Final = "redis://127.0.0.1:9/0"

_numbers = itertools.count(1)


def event(**other: Any) -> dict[str, Any]:
    """A confirmed order that no other test knows; `data` is merged, everything else replaced."""
    number = next(_numbers)
    data = {"order_id": f"o-{number}", "customer_id": f"c-{number}", "currency": "JPY", "total": 12000, "points": 120}
    envelope = {
        "specversion": "1.0",
        "source": "shop",
        "id": f"e-{number}",
        "type": "order.confirmed",
        "time": "2026-10-03T12:34:56+09:00",
        "data": {**data, **other.pop("data", {})},
    }
    return {**envelope, **other}


class Api:
    """A running API."""

    def __init__(self, url: str, process: "subprocess.Popen[str]", database: Engine, log: Path) -> None:
        self.url = url
        self.process = process
        self.database = database
        self._log = log
        # `verify=False` spares each client the loading of certificates that plain HTTP never uses
        self.http = httpx.Client(base_url=url, headers=authorised(SECRET), timeout=60, verify=False)

    @property
    def log(self) -> str:
        """What the process said on stderr."""
        return self._log.read_text()

    def post(self, document: Any, kind: str = ONE, **headers: str) -> httpx.Response:
        """Sends events; bytes and text go as they are."""
        content = document if isinstance(document, bytes | str) else json.dumps(document)
        return self.http.post("/v1/events", content=content, headers={"Content-Type": kind, **headers})

    def batch(self, *events: Any) -> httpx.Response:
        return self.post(list(events), BATCH)

    def stored(self, *events: Mapping[str, Any]) -> list[Any]:
        """The rows of the inbox under the ids of these events."""
        ids = [one["id"] for one in events]
        with self.database.connect() as connection:
            query = text("SELECT * FROM order_events WHERE event_id = ANY(:ids) ORDER BY seq")
            return list(connection.execute(query, {"ids": ids}))

    def count(self) -> int:
        """How many events are stored."""
        with self.database.connect() as connection:
            number: int = connection.execute(text("SELECT count(*) FROM order_events")).scalar_one()
            return number

    def connection(self) -> socket.socket:
        """A bare connection, for requests that no client library would send."""
        host, _, port = self.url.removeprefix("http://").partition(":")
        return socket.create_connection((host, int(port)), timeout=20)


def authorised(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The document of a problem, checked for what all have in common (RFC 9457)."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["type"] == "about:blank"
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    return document


def environment(**settings: str) -> dict[str, str]:
    """Only these settings, whatever this machine has."""
    inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith("IKKAI_")}
    own = {f"IKKAI_{name.upper()}": value for name, value in settings.items()}
    return {**inherited, "PYTHONPATH": str(ROOT), **own}


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "entrypoints.api", "--port", "0", *options]


@contextmanager
def running_api(database_url: str, log: Path, *options: str, api_keys: str = API_KEYS) -> Iterator[Api]:
    """Starts the API on a free port and ends it afterwards."""
    settings = environment(database_url=database_url, broker_url=NO_BROKER, api_keys=api_keys)
    engine = open_engine(database_url)
    with log.open("w") as stderr:
        process = subprocess.Popen(
            command(*options), cwd=ROOT, env=settings, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, log.read_text()
        api = Api(json.loads(line)["url"], process, engine, log)
        with api.http:
            yield api
    finally:
        process.kill()
        process.communicate()
        engine.dispose()
