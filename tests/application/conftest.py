"""Use cases over fakes: fast, and checked like Postgres' own ledger when a test is over."""

from collections.abc import Iterator

import pytest

from tests.application.office import Office
from tests.application.shop import Shop
from tests.contracts.identities import assert_identities, in_memory_tallies


@pytest.fixture
def shop() -> Iterator[Shop]:
    """A shop whose carrier honours keys."""
    shop = Shop()
    yield shop
    assert_identities(in_memory_tallies(shop.books.ledger))


@pytest.fixture
def keyless_shop() -> Iterator[Shop]:
    """A shop whose carrier knows no keys."""
    shop = Shop(honours_keys=False)
    yield shop
    assert_identities(in_memory_tallies(shop.books.ledger))


@pytest.fixture
def office() -> Office:
    """A billing office whose provider honours keys."""
    return Office()


@pytest.fixture(params=[True, False], ids=["with keys", "without keys"])
def any_office(request: pytest.FixtureRequest) -> Office:
    """Whether its provider honours keys makes no difference here."""
    return Office(honours_keys=request.param)
