"""One API shared by the tests of this folder, each with ids of its own; and one for a test that harms its database."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from adapters.embedded import ServerUrls
from adapters.postgres.engine import driver_url
from tests.entrypoints.api.server import Api, running_api


@pytest.fixture(scope="session")
def shared_database_url(servers: ServerUrls, template: str) -> Iterator[str]:
    """A migrated database for all tests of this folder."""
    name = f"api_{os.getpid()}"
    admin = create_engine(driver_url(servers.database_url), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        yield make_url(servers.database_url).set(database=name).render_as_string(hide_password=False)
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture(scope="session")
def api(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The shared API."""
    with running_api(shared_database_url, tmp_path_factory.mktemp("api") / "log") as running:
        yield running


@pytest.fixture
def own_api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """An API of this test alone."""
    with running_api(database_url, tmp_path / "log") as running:
        yield running
