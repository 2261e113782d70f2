"""Work outside the database."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from adapters.postgres.tables.columns import MOMENT, NOW, metadata, one_of

operations: Final = Table(
    "operations",
    metadata,
    Column("key", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("number", Integer, nullable=False, server_default="1"),
    Column("request", Text, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("state", Text, nullable=False, server_default="ready"),
    Column("epoch", Integer, nullable=False, server_default="0"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("worker_deaths", Integer, nullable=False, server_default="0"),
    Column("flagged", Boolean, nullable=False, server_default="false"),
    Column("claimed_by", Text),
    Column("lease_until", MOMENT),
    Column("sent_at", MOMENT),
    Column("first_sent_at", MOMENT),
    Column("sent_to", Text),
    Column("next_at", MOMENT, nullable=False, server_default=NOW),
    Column("reason", Text),
    Column("result", JSONB, nullable=False, server_default="{}"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("settled_at", MOMENT),
    one_of("state", "ready", "processing", "completed", "refused", "needs_confirmation", "parked"),
    CheckConstraint("key ~ '^[!-~]{1,255}$'", name="key"),
    CheckConstraint("(state = 'processing') = (lease_until IS NOT NULL)", name="lease"),
    CheckConstraint("sent_at IS NULL OR first_sent_at IS NOT NULL", name="sent"),
)
Index("operations_due_idx", operations.c.kind, operations.c.next_at, postgresql_where=text("state = 'ready'"))
Index("operations_leased_idx", operations.c.lease_until, postgresql_where=text("state = 'processing'"))
Index(
    "operations_attention_idx",
    operations.c.kind,
    operations.c.next_at,
    postgresql_where=text("state IN ('needs_confirmation', 'parked')"),
)
Index("operations_subject_idx", operations.c.subject)

operation_attempts: Final = Table(
    "operation_attempts",
    metadata,
    Column("key", Text),
    Column("epoch", Integer),
    Column("claimed_by", Text, nullable=False),
    Column("claimed_at", MOMENT, nullable=False, server_default=NOW),
    Column("sent_at", MOMENT),
    Column("settled_at", MOMENT),
    Column("state", Text),
    Column("reason", Text),
    PrimaryKeyConstraint("key", "epoch"),
)

operation_decisions: Final = Table(
    "operation_decisions",
    metadata,
    Column("decision_id", BigInteger, Identity(always=True), primary_key=True),
    Column("key", Text, nullable=False),
    Column("at", MOMENT, nullable=False, server_default=NOW),
    Column("decided_by", Text, nullable=False),
    Column("from_state", Text, nullable=False),
    Column("to_state", Text, nullable=False),
    Column("reason", Text),
    Column("evidence", Text, nullable=False),
    Index("operation_decisions_key_idx", "key"),
)
# What the provider tells by itself names a charge by its id there.
Index(
    "operations_charge_idx",
    text("(result ->> 'reference')"),
    postgresql_where=text("kind = 'billing' AND result ? 'reference'"),
    _table=operations,
)
