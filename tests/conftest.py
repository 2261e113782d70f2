"""Real servers for every test that wants one: one pair per test process, a fresh database per test."""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from sqlalchemy import Engine, create_engine, text

from adapters.embedded import EmbeddedServers, ServerUrls
from adapters.postgres.engine import driver_url, open_engine
from adapters.postgres.schema import migrate

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def servers() -> Iterator[ServerUrls]:
    """A Postgres and a Redis of this test process alone; `IKKAI_TEST_DATABASE_URL` names another Postgres to use."""
    foreign = os.environ.get("IKKAI_TEST_DATABASE_URL")
    # Not below pytest's own folder: another run closes that one to the user that Postgres runs as.
    home = Path(tempfile.mkdtemp(prefix="ikkai-test-"))
    with EmbeddedServers(home, database=foreign is None) as urls:
        yield ServerUrls(foreign or urls.database_url, urls.broker_url)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def template(servers: ServerUrls) -> Iterator[str]:
    """The name of a migrated database that each test's own is copied from."""
    name = f"template_{os.getpid()}"
    with _administrator(servers) as admin:
        _run(admin, f"CREATE DATABASE {name}")
        engine = open_engine(_url(servers, name))
        migrate(engine)
        engine.dispose()
        yield name
        _run(admin, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database_url(servers: ServerUrls, template: str) -> Iterator[str]:
    """The URL of a fresh, migrated database."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with _administrator(servers) as admin:
        _run(admin, f"CREATE DATABASE {name} TEMPLATE {template}")
        yield _url(servers, name)
        _run(admin, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """A pool on the test's own database."""
    engine = open_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def broker_url(servers: ServerUrls) -> str:
    """The URL of an empty Redis."""
    with redis.Redis.from_url(servers.broker_url) as client:
        client.flushall()
    return servers.broker_url


class _administrator:  # noqa: N801
    """A connection outside any test's database, in autocommit, closed at the end."""

    def __init__(self, servers: ServerUrls) -> None:
        self._engine = create_engine(driver_url(servers.database_url), isolation_level="AUTOCOMMIT")

    def __enter__(self) -> Engine:
        return self._engine

    def __exit__(self, *_: object) -> None:
        self._engine.dispose()


def _run(engine: Engine, statement: str) -> None:
    with engine.connect() as connection:
        connection.execute(text(statement))


def _url(servers: ServerUrls, database: str) -> str:
    return (
        driver_url(servers.database_url)
        .set(drivername="postgresql", database=database)
        .render_as_string(hide_password=False)
    )
