"""What a user finds on entering: two servers fit for money, made from nothing."""

import shutil
import time
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
import redis
import sqlalchemy

from adapters.embedded import EmbeddedServers
from tests.adapters.embedded.conftest import servers_of, standing_in
from tests.adapters.embedded.keepsake import assert_it_is_kept, write_something


def test_both_servers_start_from_nothing_within_seconds(home: Path) -> None:
    """A first start, making of the database included, takes a small part of the minute that a demo has."""
    began = time.monotonic()
    with EmbeddedServers(home / "made" / "on the way"):
        assert time.monotonic() - began < 15


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
    """The database listens on no port; its socket and the broker's passing password are closed to other users."""
    with EmbeddedServers(home) as urls:
        listening = {
            connection.laddr.ip
            for process in servers_of(home)
            for connection in process.net_connections(kind="inet")
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening == {"127.0.0.1"}
        port = urlsplit(urls.broker_url).port
        stranger = redis.Redis.from_url(f"redis://:guessed@127.0.0.1:{port}/0", retry=None)
        with stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
        closed = ["postgres/run", "postgres/data", "redis/data", "redis/redis.conf", "redis/url"]
        assert [name for name in closed if home.joinpath(name).stat().st_mode & 0o077] == []
    assert not home.joinpath("redis", "url").exists()
    assert not home.joinpath("redis", "redis.conf").exists()


def test_servers_inherit_nothing_that_is_ours(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither our secrets nor a setting meant for another database reach a server, which runs as somebody else."""
    monkeypatch.setenv("IKKAI_STRIPE_API_KEY", "sk_test_1")
    monkeypatch.setenv("PGOPTIONS", "-c timezone=Asia/Tokyo")
    with EmbeddedServers(home, broker=False) as urls, psycopg.connect(urls.database_url) as database:
        database.execute("CREATE TABLE environment (variable text)")
        database.execute("COPY environment FROM PROGRAM 'env'")
        variables = {str(line).partition("=")[0] for (line,) in database.execute("SELECT variable FROM environment")}
        assert "PATH" in variables
        assert not {"IKKAI_STRIPE_API_KEY", "PGOPTIONS"} & variables


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


def test_a_copied_home_leaves_the_socket_of_its_original_alone(home: Path) -> None:
    """Who copies a home in use gets servers of its own."""
    original, copy = home / ("a" * 100), home / ("b" * 100)
    with EmbeddedServers(original, broker=False) as urls:
        copy.joinpath("postgres").mkdir(parents=True)
        shutil.copy(original / "postgres" / "socket-folder", copy / "postgres")
        with EmbeddedServers(copy, broker=False) as urls_of_copy:
            assert urls_of_copy != urls
        psycopg.connect(urls.database_url).close()


def test_a_moved_home_works(home: Path) -> None:
    """Nothing in a home depends on where it lies."""
    with EmbeddedServers(home / "old") as urls:
        write_something(urls)
    (home / "old").rename(home / "new")
    with EmbeddedServers(home / "new") as urls:
        assert_it_is_kept(urls)
