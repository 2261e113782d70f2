"""The schema in the database, and how it gets there."""

from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from domain.errors import Unavailable

# Any number will do; two processes that migrate at once wait for each other on it (this lock may span the work:
# it is let go with the transaction that holds it).
_MIGRATION_LOCK: Final = 4_119_207_311


def migrate(engine: Engine) -> str:
    """Takes all steps that are missing, in one transaction. Returns: the revision reached."""
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return newest_revision()


def current_revision(engine: Engine) -> str | None:
    """The revision the database is at; none where it was never set up.

    Raises: Unavailable when it cannot be reached.
    """
    try:
        with engine.connect() as connection:
            return MigrationContext.configure(connection).get_current_revision()
    except DBAPIError as failure:
        raise Unavailable(f"the database did not answer: {str(failure).splitlines()[0]}") from failure


def is_empty(engine: Engine) -> bool:
    """Whether the database holds no tables of anybody."""
    return not inspect(engine).get_table_names()


def is_current(engine: Engine) -> bool:
    """Whether the database is at the revision this program needs. Raises: Unavailable when it cannot be reached."""
    return current_revision(engine) == newest_revision()


def newest_revision() -> str:
    """The revision this program needs."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None
    return revision


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "migrations:")
    return config
