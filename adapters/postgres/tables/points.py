"""The ledger of points."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    Identity,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

from adapters.postgres.tables.columns import MOMENT, NOW, metadata, one_of

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
    Column("granted_at", MOMENT, nullable=False, server_default=NOW),
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
    Column("at", MOMENT, nullable=False, server_default=NOW),
    one_of("kind", "grant", "redeem", "reverse", "restore", "expire"),
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

redemptions: Final = Table(
    "redemptions",
    metadata,
    Column("redemption_id", Text, primary_key=True),
    Column("customer_id", Text, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("order_id", Text),
    Column("redeemed_at", MOMENT, nullable=False, server_default=NOW),
    CheckConstraint("points > 0", name="points"),
)
Index("redemptions_order_idx", redemptions.c.order_id, postgresql_where=text("order_id IS NOT NULL"))

# Which lots a redemption was spent from: what is given back returns to them.
redemption_parts: Final = Table(
    "redemption_parts",
    metadata,
    Column("redemption_id", Text),
    Column("order_id", Text),
    Column("reason", Text),
    Column("points", BigInteger, nullable=False),
    PrimaryKeyConstraint("redemption_id", "order_id", "reason"),
    CheckConstraint("points > 0", name="points"),
)
