"""The schema: what the migrations add up to, and what the database itself refuses."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from adapters.postgres.schema import current_revision, is_current, is_empty, migrate, newest_revision
from adapters.postgres.tables import metadata


def test_the_tables_are_what_the_migrations_add_up_to(engine: Engine) -> None:
    """Columns, types, defaults, indexes and constraints by name."""
    with engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), metadata) == []


def test_a_difference_would_be_seen(engine: Engine) -> None:
    """The comparison is not blind."""
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE orders ADD COLUMN stray text"))
        connection.execute(text("DROP INDEX operations_due_idx"))
        found = str(compare_metadata(MigrationContext.configure(connection), metadata))
        connection.rollback()
    assert "stray" in found
    assert "operations_due_idx" in found


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    """Every start may try."""
    assert migrate(engine) == newest_revision() == current_revision(engine)
    assert is_current(engine)
    assert not is_empty(engine)


@pytest.mark.parametrize("table", ["point_entries", "operation_decisions"])
@pytest.mark.parametrize("change", ["UPDATE {} SET reason = 'x'", "DELETE FROM {}", "TRUNCATE {}"])
def test_what_happened_cannot_be_rewritten(engine: Engine, table: str, change: str) -> None:
    """Entries and decisions are append-only, whoever holds a connection."""
    with engine.begin() as connection:
        connection.execute(
            text("INSERT INTO point_entries (customer_id, kind, points, reason) VALUES ('c', 'grant', 1, 'r')")
        )
        connection.execute(
            text(
                "INSERT INTO operation_decisions (key, decided_by, from_state, to_state, evidence)"
                " VALUES ('k', 'w', 'parked', 'ready', 'e')"
            )
        )
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
        connection.execute(text(change.format(table)))


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO operations (key, kind, subject, request, fingerprint, state) VALUES ('k', 'x', 's', '', '', '?')",
        "INSERT INTO operations (key, kind, subject, request, fingerprint) VALUES ('k ü', 'x', 's', '', '')",
        "INSERT INTO operations (key, kind, subject, request, fingerprint, state)"
        " VALUES ('k', 'x', 's', '', '', 'processing')",
        "INSERT INTO orders (order_id, status) VALUES ('o', 'odd')",
        "INSERT INTO orders (order_id, status, total) VALUES ('o', 'confirmed', -1)",
        "INSERT INTO point_lots (order_id, reason, customer_id, points, remaining, expires_on)"
        " VALUES ('o', 'r', 'c', 1, 2, '2027-01-01')",
        "INSERT INTO point_entries (customer_id, kind, points, reason) VALUES ('c', 'grant', -1, 'r')",
        "INSERT INTO point_entries (customer_id, kind, points, reason) VALUES ('c', 'reverse', -1, 'r')",
        "INSERT INTO order_events (source, event_id, type, time, subject, revision, data, fingerprint, state)"
        " VALUES ('s', 'e', 't', now(), 'o', 1, '', '', 'odd')",
    ],
)
def test_the_database_refuses_what_no_rule_allows(engine: Engine, statement: str) -> None:
    """States, signs, leases and keys are checked there too."""
    with pytest.raises(DBAPIError, match="check constraint"), engine.begin() as connection:
        connection.execute(text(statement))
