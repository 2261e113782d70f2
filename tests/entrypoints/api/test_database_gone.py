"""A database that stops, comes back, or is not the one this program needs."""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from adapters.embedded import EmbeddedServers
from adapters.postgres.engine import open_engine
from adapters.postgres.schema import migrate
from tests.entrypoints.api.server import Api, event, problem, running_api

# Stands in for a database that goes down between two sets: "57P03" is what one that shuts down or starts up says.
FAIL_FOR_POISON = """
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'going down' USING ERRCODE = '57P03'; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON order_events FOR EACH ROW WHEN (NEW.event_id = 'poison')
    EXECUTE FUNCTION fail();
"""


def assert_to_be_repeated(answer: httpx.Response) -> None:
    document = problem(answer, 503)
    assert int(answer.headers["Retry-After"]) > 0
    assert "postgres" not in document["detail"].lower()


@pytest.fixture
def short_home() -> Iterator[Path]:
    """A home whose sockets fit into an address, so that the server is found again at the same one."""
    with tempfile.TemporaryDirectory(prefix="ikkai-") as home:
        yield Path(home)


def test_while_the_database_is_gone_nothing_is_acknowledged(tmp_path: Path, short_home: Path) -> None:
    """503 with a time to come back; the process lives, is not ready, and serves again without a restart."""
    home, first, second = short_home, event(), event()
    with EmbeddedServers(home, broker=False) as urls:
        engine = open_engine(urls.database_url)
        migrate(engine)
        engine.dispose()
    with running_api(urls.database_url, tmp_path / "log") as api, ThreadPoolExecutor() as senders:
        with EmbeddedServers(home, broker=False) as again:
            assert again.database_url == urls.database_url
            assert api.post(first).json()["accepted"] == 1
            assert api.http.get("/readyz").status_code == 200
        waiting = [
            senders.submit(api.post, second),
            senders.submit(api.batch, second, first),
            senders.submit(api.http.get, "/v1/customers/c-1/points"),
        ]
        assert_to_be_repeated(api.http.get("/readyz"))
        assert api.http.get("/healthz").json() == {"status": "ok"}
        for request in waiting:
            assert_to_be_repeated(request.result())
        with EmbeddedServers(home, broker=False):
            answer = api.batch(first, second)
            assert (answer.status_code, answer.json()["accepted"], answer.json()["duplicates"]) == (202, 1, 1)
            assert api.http.get("/readyz").json() == {"status": "ready"}
        api.database.dispose()


def test_a_batch_of_which_a_later_set_fails_is_to_be_repeated(own_api: Api) -> None:
    """What earlier sets stored is duplicates the second time: nothing is lost, nothing is twice."""
    events = [event() for _ in range(1500)]
    events[1200]["id"] = "poison"
    with own_api.database.begin() as connection:
        connection.execute(text(FAIL_FOR_POISON))
    assert_to_be_repeated(own_api.batch(*events))
    assert own_api.count() == 1000
    with own_api.database.begin() as connection:
        connection.execute(text("DROP TRIGGER fail ON order_events"))
    answer = own_api.batch(*events).json()
    assert (answer["accepted"], answer["duplicates"]) == (500, 1000)


def test_another_schema_is_not_ready(own_api: Api) -> None:
    """Traffic waits until the database is migrated, and the answer says how."""
    with own_api.database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    answer = own_api.http.get("/readyz")
    assert "ikkai migrate" in problem(answer, 503)["detail"]
    assert own_api.http.get("/healthz").status_code == 200
