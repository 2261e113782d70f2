"""What a Postgres says of itself that we depend on."""

from dataclasses import dataclass

from sqlalchemy import Engine, text


@dataclass(frozen=True, slots=True)
class PostgresFacts:
    """Units: the version as 150018 for 15.18, the clock in seconds since 1970."""

    version: int
    isolation: str
    fsync: str
    synchronous_commit: str
    clock_seconds: float


def postgres_facts(engine: Engine) -> PostgresFacts:
    """Asks once."""
    asked = text(
        "SELECT current_setting('server_version_num')::int, current_setting('transaction_isolation'),"
        " current_setting('fsync'), current_setting('synchronous_commit'),"
        " extract(epoch FROM clock_timestamp())::float8"
    )
    with engine.connect() as connection:
        return PostgresFacts(*connection.execute(asked).one())
