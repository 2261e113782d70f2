"""Whoever runs ikkai, root or not, gets servers; and nobody gets more rights than he had."""

from pathlib import Path

from adapters.embedded import EmbeddedServers
from adapters.embedded.accounts import Account
from tests.adapters.embedded.conftest import users_in
from tests.adapters.embedded.keepsake import assert_it_is_kept, write_something
from tests.adapters.embedded.visitor import Visitor


def test_an_ordinary_user_needs_no_rights(home: Path) -> None:
    """Somebody without any privilege runs both servers, as himself."""
    # Root has to become somebody else for it.
    user = Account.current_or_unprivileged()
    user.take(home)
    user.let_through(home)
    visitor = Visitor(home, user)
    visitor.urls()
    assert users_in(home) == {user.user_id}
    visitor.leave()


def test_root_works_in_the_home_of_an_ordinary_user(home: Path) -> None:
    """What root did there, the owner can still use."""
    user = Account.current_or_unprivileged()
    user.take(home)
    user.let_through(home)
    first = Visitor(home, user)
    write_something(first.urls())
    first.leave()
    with EmbeddedServers(home) as urls:
        assert_it_is_kept(urls)
        assert users_in(home) == {user.user_id}
    last = Visitor(home, user)
    assert_it_is_kept(last.urls())
    last.leave()


def test_postgresql_never_runs_as_root(home: Path) -> None:
    """Root gets a database that runs as somebody who may do nothing else."""
    with EmbeddedServers(home, broker=False):
        users = users_in(home)
        assert users == {Account.current_or_unprivileged().user_id}
        assert 0 not in users
