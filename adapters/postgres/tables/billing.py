"""What is billed, and the bills."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from adapters.postgres.tables.columns import MOMENT, NOW, metadata, one_of

subscriptions: Final = Table(
    "subscriptions",
    metadata,
    Column("subscription_id", Text, primary_key=True),
    Column("customer_id", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("price", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("tax_ppm", Integer, nullable=False),
    Column("tax_included", Boolean, nullable=False),
    Column("start_on", Date, nullable=False),
    Column("end_on", Date),
    # Whether every day of it that lies in a period billed before is on a bill.
    Column("settled", Boolean, nullable=False, server_default="false"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    CheckConstraint("price >= 0 AND tax_ppm BETWEEN 0 AND 1000000", name="amounts"),
    CheckConstraint("end_on >= start_on", name="days"),
)
Index("subscriptions_customer_idx", subscriptions.c.customer_id)
Index("subscriptions_unsettled_idx", subscriptions.c.start_on, postgresql_where=text("NOT settled"))

items: Final = Table(
    "items",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("customer_id", Text, nullable=False),
    Column("date", Date, nullable=False),
    Column("description", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("currency", Text, nullable=False),
    Column("tax_ppm", Integer, nullable=False),
    Column("tax_included", Boolean, nullable=False),
    Column("month", Text),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    CheckConstraint("tax_ppm BETWEEN 0 AND 1000000", name="tax"),
)
Index("items_unbilled_idx", items.c.customer_id, items.c.date, postgresql_where=text("month IS NULL"))

billing_runs: Final = Table(
    "billing_runs",
    metadata,
    Column("month", Text, primary_key=True),
    Column("time_zone", Text, nullable=False),
    Column("rounding", Text, nullable=False),
    Column("started_at", MOMENT, nullable=False, server_default=NOW),
    CheckConstraint("month ~ '^[0-9]{4}-[0-9]{2}$'", name="month"),
    one_of("rounding", "floor", "half_up", "ceil"),
)

# The last number given out in each year: a row, since a sequence leaves gaps where a transaction is undone.
bill_numbers: Final = Table(
    "bill_numbers",
    metadata,
    Column("year", SmallInteger, primary_key=True, autoincrement=False),
    Column("last", BigInteger, nullable=False),
)

bills: Final = Table(
    "bills",
    metadata,
    Column("customer_id", Text),
    Column("month", Text),
    Column("year", SmallInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("period_start", Date, nullable=False),
    Column("period_end", Date, nullable=False),
    Column("currency", Text, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("taxes", JSONB, nullable=False),
    Column("settlement", Text, nullable=False),
    Column("carried_to", Text),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("charge_key", Text),
    Column("issued_at", MOMENT, nullable=False, server_default=NOW),
    PrimaryKeyConstraint("customer_id", "month"),
    UniqueConstraint("year", "number"),
    CheckConstraint("period_end >= period_start", name="period"),
    CheckConstraint("(settlement = 'charge') = (charge_key IS NOT NULL)", name="charge"),
    CheckConstraint("carried_to IS NULL OR settlement = 'carried'", name="carried"),
    one_of("settlement", "charge", "nothing", "carried"),
)
Index("bills_month_idx", bills.c.month, bills.c.customer_id)
Index("bills_charge_idx", bills.c.charge_key, unique=True, postgresql_where=text("charge_key IS NOT NULL"))
Index(
    "bills_carried_idx",
    bills.c.customer_id,
    bills.c.month,
    postgresql_where=text("settlement = 'carried' AND carried_to IS NULL"),
)

bill_lines: Final = Table(
    "bill_lines",
    metadata,
    Column("customer_id", Text),
    Column("month", Text),
    Column("line", Integer),
    Column("kind", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("tax_ppm", Integer, nullable=False),
    Column("tax_included", Boolean, nullable=False),
    Column("tax", BigInteger, nullable=False),
    Column("first_day", Date),
    Column("last_day", Date),
    PrimaryKeyConstraint("customer_id", "month", "line"),
    one_of("kind", "subscription", "arrears", "item", "carried"),
)
# No day of a subscription and no item is ever billed twice, whatever the rules may say one day.
Index(
    "bill_lines_days_idx",
    bill_lines.c.source,
    bill_lines.c.first_day,
    unique=True,
    postgresql_where=text("kind IN ('subscription', 'arrears')"),
)
Index("bill_lines_item_idx", bill_lines.c.source, unique=True, postgresql_where=text("kind = 'item'"))
