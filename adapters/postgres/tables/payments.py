"""Money that goes back."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from adapters.postgres.tables.columns import MOMENT, NOW, metadata, one_of

refunds: Final = Table(
    "refunds",
    metadata,
    Column("seq", BigInteger, Identity(always=True), nullable=False),
    Column("refund_id", Text, primary_key=True),
    Column("key", Text, nullable=False),
    Column("customer_id", Text, nullable=False),
    Column("month", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("void", Boolean, nullable=False, server_default="false"),
    # What the provider told by itself; what it answered us stands at the operation.
    Column("state", Text, nullable=False, server_default="requested"),
    Column("reference", Text),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    UniqueConstraint("key"),
    CheckConstraint("amount > 0", name="amount"),
    one_of("origin", "ikkai", "provider"),
    one_of("state", "requested", "pending", "succeeded", "failed"),
)
Index("refunds_charge_idx", refunds.c.customer_id, refunds.c.month)
Index("refunds_reference_idx", refunds.c.reference, unique=True, postgresql_where=text("reference IS NOT NULL"))
