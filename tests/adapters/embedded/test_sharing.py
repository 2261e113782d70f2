"""All ikkai processes of a home share its servers: the first starts them, the last stops them."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from adapters.embedded import EmbeddedServers
from tests.adapters.embedded.conftest import servers_of, standing_in
from tests.adapters.embedded.keepsake import assert_it_is_kept, write_something
from tests.adapters.embedded.visitor import DEADLINE_SECONDS, Visitor


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


def test_two_processes_share_and_the_last_stops(home: Path) -> None:
    """The second comes to the same servers; they stay until it leaves too."""
    with EmbeddedServers(home) as urls:
        write_something(urls)
        servers = servers_of(home)
        visitor = Visitor(home)
        assert visitor.urls() == urls
        assert servers_of(home) == servers
    assert servers_of(home) == servers
    assert_it_is_kept(urls)
    visitor.leave()
    assert standing_in(home) == []


def test_many_may_come_at_once(home: Path) -> None:
    """Of several first ones, one starts the servers and the others wait for it."""
    visitors = [Visitor(home) for _ in range(4)]
    assert len({visitor.urls() for visitor in visitors}) == 1
    assert len(servers_of(home)) == 2
    for visitor in visitors:
        visitor.leave()
    assert standing_in(home) == []


def test_each_server_is_shared_by_itself(home: Path) -> None:
    """Who wants only the broker does not keep the database running."""
    with EmbeddedServers(home, database=False):
        with EmbeddedServers(home):
            assert len(servers_of(home)) == 2
        assert [process.info["name"] for process in standing_in(home)] == ["redis-server"]


def test_servers_outlive_a_killed_user_until_the_next_one_leaves(home: Path) -> None:
    """SIGKILL of the last user leaves servers running; the next one takes them over and stops them."""
    killed = Visitor(home)
    urls = killed.urls()
    write_something(urls)
    servers = servers_of(home)
    killed.kill()
    with EmbeddedServers(home) as urls_again:
        assert urls_again == urls
        assert servers_of(home) == servers
        assert_it_is_kept(urls)
    assert standing_in(home) == []


def test_a_killed_user_does_not_count(home: Path) -> None:
    """The last one who leaves stops the servers although another never said goodbye."""
    killed = Visitor(home)
    with EmbeddedServers(home):
        killed.urls()
        killed.kill()
    assert standing_in(home) == []


def test_a_user_killed_at_any_moment_of_the_start_blocks_nobody(home: Path) -> None:
    """Whatever a first start had just done when it was killed, the next one ends well."""
    moments: list[Callable[[], bool]] = [
        lambda: home.joinpath("postgres", "guard").exists(),
        lambda: any(home.glob("postgres/initialising-*")),
        lambda: any(home.glob("postgres/initialising-*/base")),
        lambda: home.joinpath("postgres", "data").exists(),
        lambda: home.joinpath("postgres", "server.log").exists(),
        lambda: home.joinpath("redis", "guard").exists(),
        lambda: home.joinpath("redis", "url").exists(),
    ]
    for reached in moments:
        killed = Visitor(home)
        wait_for(reached)
        killed.kill()
    with EmbeddedServers(home) as urls:
        write_something(urls)
        assert_it_is_kept(urls)
        assert list(home.glob("postgres/initialising-*")) == []
    assert standing_in(home) == []


def test_ctrl_c_reaches_ikkai_and_not_its_servers(home: Path) -> None:
    """An orderly end after Ctrl-C still has its servers, and then stops them."""
    visitor = Visitor(home)
    visitor.urls()
    groups = {os.getpgid(process.pid) for process in servers_of(home)}
    assert os.getpgid(visitor.process.pid) not in groups
    os.killpg(visitor.process.pid, signal.SIGINT)
    _, errors = visitor.process.communicate(timeout=DEADLINE_SECONDS)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert standing_in(home) == []


def test_ctrl_c_during_the_start_leaves_nothing_running(home: Path) -> None:
    """Who loses patience with a first start leaves no server behind."""
    visitor = Visitor(home)
    wait_for(lambda: any(home.glob("postgres/initialising-*/base")))
    os.killpg(visitor.process.pid, signal.SIGINT)
    visitor.process.communicate(timeout=DEADLINE_SECONDS)
    wait_for(lambda: standing_in(home) == [])


def test_no_lock_is_inherited(home: Path) -> None:
    """Servers and forked children hold no lock of ours, so nothing waits for their end."""
    with EmbeddedServers(home):
        locks = {str(path) for path in home.glob("*/guard")} | {str(path) for path in home.glob("*/users")}
        assert locks
        opened = {file.path for process in servers_of(home) for file in process.open_files()}
        assert not locks & opened
