"""Each contract test runs over the fake and over Postgres; afterwards the ledger's identities must hold."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.contracts.crowds import ProcessCrowd, process_crowd
from tests.contracts.identities import assert_identities
from tests.contracts.stores import InMemoryStore, PostgresStore, Store


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """Both stores, one after the other."""
    if request.param == "memory":
        in_memory = InMemoryStore()
        yield in_memory
        assert_identities(in_memory.tallies())
    else:
        yield request.getfixturevalue("postgres_store")


@pytest.fixture
def postgres_store(database_url: str) -> Iterator[PostgresStore]:
    """Postgres alone, for what only a real database can do wrong."""
    with closing(PostgresStore(database_url)) as store:
        yield store
        assert_identities(store.tallies())


@pytest.fixture(scope="session")
def processes() -> Iterator[ProcessCrowd]:
    """Started once: eight interpreters are a few seconds' work."""
    with process_crowd() as crowd:
        yield crowd
