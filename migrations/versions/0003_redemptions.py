"""Redemptions: points that were spent, and which lots they came from.

Frozen SQL: `adapters/postgres/tables` says the same in SQLAlchemy's words, and a test compares the two.
"""

from typing import Final

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TABLES: Final = """
CREATE TABLE redemptions (
    redemption_id TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    points BIGINT NOT NULL,
    order_id TEXT,
    redeemed_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT redemptions_pkey PRIMARY KEY (redemption_id),
    CONSTRAINT redemptions_points_check CHECK (points > 0)
);

CREATE INDEX redemptions_order_idx ON redemptions (order_id) WHERE order_id IS NOT NULL;

CREATE TABLE redemption_parts (
    redemption_id TEXT NOT NULL,
    order_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    points BIGINT NOT NULL,
    CONSTRAINT redemption_parts_pkey PRIMARY KEY (redemption_id, order_id, reason),
    CONSTRAINT redemption_parts_points_check CHECK (points > 0)
);
"""


def upgrade() -> None:
    op.execute(_TABLES)
