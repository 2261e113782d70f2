"""One clock for everything, the database's, and a test may shift it."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from adapters.postgres.engine import open_engine
from adapters.postgres.transactions import PostgresClock, PostgresTransactions
from application.operations import SweepLeases
from domain.operations import Policy, RetryPolicy, State
from domain.shipping import REQUEST, ShipmentRequest

LEASE_SECONDS = 30.0


@pytest.mark.parametrize("offset", [timedelta(days=1), timedelta(days=-1), timedelta(seconds=90.5)])
def test_an_offset_shifts_the_clock(engine: Engine, database_url: str, offset: timedelta) -> None:
    """Forwards and backwards, to the fraction."""
    shifted = open_engine(database_url, clock_offset=offset)
    difference = PostgresClock(shifted).now() - PostgresClock(engine).now()
    shifted.dispose()
    assert abs(difference - offset) < timedelta(seconds=5)


def test_a_lease_is_over_by_the_shifted_clock(engine: Engine, database_url: str) -> None:
    """What a dead worker held is free once its lease is over, however little time really passed."""
    now = PostgresTransactions(engine)
    parcel = ShipmentRequest("o-1", 1, {"name": "山田", "country": "JP"}).as_operation()
    now.run(lambda books: books.operations.register_each([parcel]))
    now.run(lambda books: books.operations.claim(REQUEST, 1, lease_seconds=LEASE_SECONDS, worker="w", max_attempts=3))
    policies = {REQUEST: Policy.PROVIDER_KEY}
    assert SweepLeases(now, policies, RetryPolicy()).execute() == 0
    later = open_engine(database_url, clock_offset=timedelta(seconds=LEASE_SECONDS + 1))
    assert SweepLeases(PostgresTransactions(later), policies, RetryPolicy()).execute() == 1
    later.dispose()
    freed = now.run(lambda books: books.operations.get(parcel.key))
    assert freed is not None
    assert (freed.state, freed.worker_deaths) == (State.READY, 1)
