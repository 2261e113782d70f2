"""Servers that were killed, frozen or lost their files, and homes that a crash left in disorder."""

import os
import shutil
import signal
import socket
import subprocess
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
import redis

from adapters.embedded import EmbeddedServers
from adapters.embedded.processes import wait_until
from tests.adapters.embedded.conftest import standing_in
from tests.adapters.embedded.keepsake import assert_it_is_kept, write_something
from tests.adapters.embedded.visitor import Visitor


def leader(id_file: Path) -> psutil.Process:
    """The server that has written down its process id there."""
    return psutil.Process(int(id_file.read_text().split()[0]))


def postgres(home: Path) -> psutil.Process:
    return leader(home / "postgres" / "data" / "postmaster.pid")


def broker(home: Path) -> psutil.Process:
    return leader(home / "redis" / "data" / "redis.pid")


def test_after_a_power_cut_both_servers_start_again(home: Path) -> None:
    """User and servers, all killed at once, leave nothing in the way; what was committed is there."""
    visitor = Visitor(home)
    urls = visitor.urls()
    write_something(urls)
    with redis.Redis.from_url(urls.broker_url) as client:
        # Redis writes once a second; the write is only safe when it is on the disk.
        client.waitaof(1, 0, 5000)
    visitor.kill()
    for process in standing_in(home):
        process.kill()
    with EmbeddedServers(home) as urls:
        assert_it_is_kept(urls)
    assert standing_in(home) == []


def test_a_killed_server_comes_back_where_its_users_look_for_it(home: Path) -> None:
    """The next process starts what was killed, at the address that those still at work know."""
    with EmbeddedServers(home) as urls:
        write_something(urls)
        with redis.Redis.from_url(urls.broker_url) as client:
            client.waitaof(1, 0, 5000)
        postgres(home).kill()
        broker(home).kill()
        with EmbeddedServers(home) as urls_again:
            assert urls_again == urls
        assert_it_is_kept(urls)
    assert standing_in(home) == []


def test_an_initdb_that_outlived_its_ikkai_is_ended_and_its_work_thrown_away(home: Path) -> None:
    """A killed first start leaves half a database, perhaps with its maker still at work: neither stays."""
    half_made = home / "postgres" / "initialising-1"
    half_made.mkdir(parents=True)
    half_made.joinpath("PG_VERSION").write_text("18\n")
    maker = home / "initdb"
    maker.write_text("#!/bin/sh\nread never\n")
    maker.chmod(0o700)
    with subprocess.Popen([maker], cwd=half_made, stdin=subprocess.PIPE) as process:
        with EmbeddedServers(home, broker=False):
            assert not half_made.exists()
        assert process.wait() == -signal.SIGKILL


def test_orphans_of_a_killed_postgresql_do_not_hinder_the_next(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend deep in work outlives its killed postmaster; it is ended before another one touches the data."""
    monkeypatch.setattr("adapters.embedded.postgres_server.CRASH_SECONDS", 0.1)
    with EmbeddedServers(home, broker=False) as urls, closing(psycopg.connect(urls.database_url)) as database:
        backend = psutil.Process(database.info.backend_pid)
        # Frozen, it cannot notice that its postmaster is gone.
        backend.suspend()
        postgres(home).kill()
        assert wait_until(lambda: standing_in(home) == [backend], 10)
        with EmbeddedServers(home, broker=False), psycopg.connect(urls.database_url) as anew:
            assert anew.execute("SELECT 1").fetchone() == (1,)
            assert backend not in standing_in(home)


@pytest.mark.parametrize("server", ["postgres", "redis"])
def test_a_process_id_that_went_to_somebody_else_is_not_believed(home: Path, server: str) -> None:
    """After a reboot the stored number may be anybody's: he is left in peace, and the server starts."""
    with EmbeddedServers(home, database=server == "postgres", broker=server == "redis"):
        pass
    id_file = home / server / "data" / ("postmaster.pid" if server == "postgres" else "redis.pid")
    # This very process is somebody else's; it would not survive a mistake.
    id_file.write_text(f"{os.getpid()}\n{id_file.parent}\n1\n5432\n{home}/postgres/run\n\n1 1\nready   \n")
    with EmbeddedServers(home, database=server == "postgres", broker=server == "redis"):
        assert leader(id_file).pid != os.getpid()


def test_a_frozen_backend_does_not_keep_the_database_from_stopping(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend that answers no signal is killed in the end, and what was committed survives it."""
    monkeypatch.setattr("adapters.embedded.postgres_server.STOP_SECONDS", 0.1)
    monkeypatch.setattr("adapters.embedded.postgres_server.CRASH_SECONDS", 0.1)
    servers = EmbeddedServers(home, broker=False)
    with servers as urls, closing(psycopg.connect(urls.database_url)) as database:
        database.execute("CREATE TABLE kept ()")
        database.commit()
        psutil.Process(database.info.backend_pid).suspend()
        servers.restart_database("fast")
        with psycopg.connect(urls.database_url) as anew:
            anew.execute("SELECT FROM kept")


def test_a_queue_file_with_its_end_missing_is_read_as_far_as_it_goes(home: Path) -> None:
    """A crash in the middle of a write costs that write alone."""
    with EmbeddedServers(home, database=False) as urls, redis.Redis.from_url(urls.broker_url) as client:
        client.set("first", "1")
        client.set("second", "2")
    written = next(home.glob("redis/data/appendonlydir/*.incr.aof"))
    os.truncate(written, written.stat().st_size - 3)
    with EmbeddedServers(home, database=False) as urls, redis.Redis.from_url(urls.broker_url) as client:
        assert client.get("first") == b"1"
        assert client.get("second") is None


def test_queue_files_that_redis_cannot_read_are_set_aside(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A spoiled queue costs latency, as PostgreSQL rings again; it does not keep ikkai from starting."""
    with EmbeddedServers(home, database=False) as urls, redis.Redis.from_url(urls.broker_url) as client:
        client.set("lost", "1")
    written = next(home.glob("redis/data/appendonlydir/*.incr.aof"))
    written.write_bytes(b"\0" * 100 + written.read_bytes())
    with EmbeddedServers(home, database=False) as urls, redis.Redis.from_url(urls.broker_url) as client:
        assert client.dbsize() == 0
    assert "begins empty" in caplog.text
    assert home.joinpath("redis", "data.unreadable", "appendonlydir", written.name).exists()


def takes(somebody: socket.socket, port: int) -> bool:
    """The kernel gives a killed server's port away a moment after its end."""
    somebody.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with suppress(OSError):
        somebody.bind(("127.0.0.1", port))
        somebody.listen()
        return True
    return False


def test_a_port_that_somebody_took_is_not_fought_for(home: Path) -> None:
    """If the port of a killed broker is somebody else's by now, the next one takes another."""
    visitor = Visitor(home)
    port = urlsplit(visitor.urls().broker_url).port
    visitor.kill()
    assert port is not None
    broker(home).kill()
    somebody = socket.socket()
    assert wait_until(lambda: takes(somebody, port), 10)
    with somebody, EmbeddedServers(home) as urls:
        assert urlsplit(urls.broker_url).port != port
        with redis.Redis.from_url(urls.broker_url) as client:
            assert client.ping()


def test_a_home_deleted_under_its_servers_starts_anew(home: Path) -> None:
    """Servers whose home is gone are ended by the next start, or by their last user."""
    inner = home / "inner"
    visitor = Visitor(inner)
    visitor.urls()
    shutil.rmtree(inner)
    with EmbeddedServers(inner) as urls:
        write_something(urls)
        # The visitor's servers are gone; those of the new home are not his to stop.
        visitor.leave()
        assert_it_is_kept(urls)
        shutil.rmtree(inner)
    assert standing_in(home) == []


@pytest.mark.parametrize("mode", ["immediate", "fast"])
def test_a_restart_in_place_keeps_address_and_data(home: Path, mode: str) -> None:
    """Crash tests can take each server away and back; its users reconnect where they were."""
    servers = EmbeddedServers(home)
    with servers as urls:
        write_something(urls)
        with redis.Redis.from_url(urls.broker_url) as client:
            client.waitaof(1, 0, 5000)
        before = {postgres(home).pid, broker(home).pid}
        servers.restart_database("fast" if mode == "fast" else "immediate")
        servers.restart_broker("fast" if mode == "fast" else "immediate")
        assert not before & {postgres(home).pid, broker(home).pid}
        assert_it_is_kept(urls)


def test_a_frozen_server_is_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that stands there and answers nobody is ended, and another one started."""
    monkeypatch.setattr("adapters.embedded.shared_server.FOUND_SECONDS", 0.1)
    monkeypatch.setattr("adapters.embedded.redis_server.CALL_SECONDS", 0.1)
    with EmbeddedServers(home, database=False):
        frozen = broker(home)
        frozen.suspend()
        with EmbeddedServers(home, database=False) as urls, redis.Redis.from_url(urls.broker_url) as client:
            assert client.ping()
            assert frozen not in standing_in(home)
