"""Customers, their orders, and what the shop told of them."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from adapters.postgres.tables.columns import MOMENT, NOW, metadata, one_of

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
    Column("as_of", MOMENT),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    one_of("locale", "ja", "en"),
    CheckConstraint("closing_day BETWEEN 1 AND 31", name="closing_day"),
)

order_events: Final = Table(
    "order_events",
    metadata,
    Column("seq", BigInteger, Identity(always=True), primary_key=True),
    Column("source", Text, nullable=False),
    Column("event_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("time", MOMENT, nullable=False),
    Column("subject", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("data", Text, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("state", Text, nullable=False, server_default="accepted"),
    Column("reason", Text),
    Column("accepted_at", MOMENT, nullable=False, server_default=NOW),
    Column("settled_at", MOMENT),
    UniqueConstraint("source", "event_id"),
    one_of("state", "accepted", "applied", "ignored", "conflict", "waiting", "parked"),
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
    Column("time", MOMENT, nullable=False),
    Column("subject", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("data", Text, nullable=False),
    Column("received_at", MOMENT, nullable=False, server_default=NOW),
    PrimaryKeyConstraint("source", "event_id", "fingerprint"),
)

orders: Final = Table(
    "orders",
    metadata,
    Column("order_id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("revision", BigInteger),
    Column("event_time", MOMENT),
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
    Column("updated_at", MOMENT, nullable=False, server_default=NOW),
    one_of("status", "announced", "confirmed", "cancelled"),
    CheckConstraint("total >= 0 AND points >= 0", name="amounts"),
)

dead_letters: Final = Table(
    "dead_letters",
    metadata,
    Column("letter_id", BigInteger, Identity(always=True), primary_key=True),
    Column("received_at", MOMENT, nullable=False, server_default=NOW),
    Column("queue", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("reason", Text, nullable=False),
    UniqueConstraint("queue", "digest"),
)
