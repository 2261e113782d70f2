"""The tables as the migrations leave them (a test compares the two). No foreign keys between contexts: D-004."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP

metadata: Final = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)
_MOMENT: Final = TIMESTAMP(timezone=True)
_NOW: Final = text("ikkai_now()")


def _one_of(column: str, *values: str) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(repr(value) for value in values)})", name=column)


customers: Final = Table(
    "customers",
    metadata,
    Column("customer_id", Text, primary_key=True),
    Column("email", Text),
    Column("name", Text),
    Column("locale", Text, nullable=False, server_default="ja"),
    Column("payment_method", Text),
    Column("payment_customer", Text),
    Column("closing_day", SmallInteger, nullable=False, server_default="31"),
    Column("as_of", _MOMENT),
    Column("created_at", _MOMENT, nullable=False, server_default=_NOW),
    _one_of("locale", "ja", "en"),
    CheckConstraint("closing_day BETWEEN 1 AND 31", name="closing_day"),
)

order_events: Final = Table(
    "order_events",
    metadata,
    Column("seq", BigInteger, Identity(always=True), primary_key=True),
    Column("source", Text, nullable=False),
    Column("event_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("time", _MOMENT, nullable=False),
    Column("subject", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("data", Text, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("state", Text, nullable=False, server_default="accepted"),
    Column("reason", Text),
    Column("accepted_at", _MOMENT, nullable=False, server_default=_NOW),
    Column("settled_at", _MOMENT),
    UniqueConstraint("source", "event_id"),
    _one_of("state", "accepted", "applied", "ignored", "conflict", "waiting", "parked"),
)
Index("order_events_due_idx", order_events.c.seq, postgresql_where=text("state = 'accepted'"))
Index("order_events_subject_idx", order_events.c.subject)
Index(
    "order_events_attention_idx",
    order_events.c.state,
    order_events.c.seq,
    postgresql_where=text("state IN ('conflict', 'waiting', 'parked')"),
)

event_conflicts: Final = Table(
    "event_conflicts",
    metadata,
    Column("source", Text),
    Column("event_id", Text),
    Column("fingerprint", LargeBinary),
    Column("type", Text, nullable=False),
    Column("time", _MOMENT, nullable=False),
    Column("subject", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("data", Text, nullable=False),
    Column("received_at", _MOMENT, nullable=False, server_default=_NOW),
    PrimaryKeyConstraint("source", "event_id", "fingerprint"),
)

orders: Final = Table(
    "orders",
    metadata,
    Column("order_id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("revision", BigInteger),
    Column("event_time", _MOMENT),
    Column("event_id", Text),
    Column("customer_id", Text),
    Column("content", LargeBinary),
    Column("currency", Text),
    Column("total", BigInteger),
    Column("points", BigInteger, nullable=False, server_default="0"),
    Column("ship_to", Text),
    Column("grant_reason", Text),
    Column("confirmations", Integer, nullable=False, server_default="0"),
    Column("shipments", Integer, nullable=False, server_default="0"),
    Column("updated_at", _MOMENT, nullable=False, server_default=_NOW),
    _one_of("status", "announced", "confirmed", "cancelled"),
    CheckConstraint("total >= 0 AND points >= 0", name="amounts"),
)

point_balances: Final = Table(
    "point_balances",
    metadata,
    Column("customer_id", Text, primary_key=True),
    Column("balance", BigInteger, nullable=False, server_default="0"),
)

point_lots: Final = Table(
    "point_lots",
    metadata,
    Column("order_id", Text),
    Column("reason", Text),
    Column("customer_id", Text, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("remaining", BigInteger, nullable=False),
    Column("reversed", BigInteger, nullable=False, server_default="0"),
    Column("expired", BigInteger, nullable=False, server_default="0"),
    Column("expires_on", Date, nullable=False),
    Column("granted_at", _MOMENT, nullable=False, server_default=_NOW),
    PrimaryKeyConstraint("order_id", "reason"),
    CheckConstraint("points > 0 AND remaining >= 0 AND reversed >= 0 AND expired >= 0", name="signs"),
    CheckConstraint("remaining <= points AND reversed + expired <= points", name="parts"),
)
Index(
    "point_lots_open_idx",
    point_lots.c.customer_id,
    point_lots.c.expires_on,
    point_lots.c.granted_at,
    postgresql_where=text("remaining > 0"),
)

point_entries: Final = Table(
    "point_entries",
    metadata,
    Column("entry_id", BigInteger, Identity(always=True), primary_key=True),
    Column("customer_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("order_id", Text),
    Column("reason", Text, nullable=False),
    Column("cause", Text),
    Column("at", _MOMENT, nullable=False, server_default=_NOW),
    _one_of("kind", "grant", "redeem", "reverse", "restore", "expire"),
    CheckConstraint("(kind = 'grant') = (cause IS NULL)", name="cause"),
    CheckConstraint("points <> 0 AND (points > 0) = (kind IN ('grant', 'restore'))", name="points"),
)
Index("point_entries_customer_idx", point_entries.c.customer_id, point_entries.c.entry_id)
# Grants are once by their lot; every other entry by what caused it.
Index(
    "point_entries_once_idx",
    point_entries.c.order_id,
    point_entries.c.reason,
    point_entries.c.kind,
    point_entries.c.cause,
    unique=True,
    postgresql_where=text("kind <> 'grant'"),
)

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
    Column("lease_until", _MOMENT),
    Column("sent_at", _MOMENT),
    Column("first_sent_at", _MOMENT),
    Column("next_at", _MOMENT, nullable=False, server_default=_NOW),
    Column("reason", Text),
    Column("result", JSONB, nullable=False, server_default="{}"),
    Column("created_at", _MOMENT, nullable=False, server_default=_NOW),
    Column("settled_at", _MOMENT),
    _one_of("state", "ready", "processing", "completed", "refused", "needs_confirmation", "parked"),
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
    Column("claimed_at", _MOMENT, nullable=False, server_default=_NOW),
    Column("sent_at", _MOMENT),
    Column("settled_at", _MOMENT),
    Column("state", Text),
    Column("reason", Text),
    PrimaryKeyConstraint("key", "epoch"),
)

operation_decisions: Final = Table(
    "operation_decisions",
    metadata,
    Column("decision_id", BigInteger, Identity(always=True), primary_key=True),
    Column("key", Text, nullable=False),
    Column("at", _MOMENT, nullable=False, server_default=_NOW),
    Column("decided_by", Text, nullable=False),
    Column("from_state", Text, nullable=False),
    Column("to_state", Text, nullable=False),
    Column("reason", Text),
    Column("evidence", Text, nullable=False),
    Index("operation_decisions_key_idx", "key"),
)

dead_letters: Final = Table(
    "dead_letters",
    metadata,
    Column("letter_id", BigInteger, Identity(always=True), primary_key=True),
    Column("received_at", _MOMENT, nullable=False, server_default=_NOW),
    Column("queue", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("reason", Text, nullable=False),
    UniqueConstraint("queue", "digest"),
)
