"""Billing and refunds: what is billed, bills, money that goes back, and which workers are alive.

Frozen SQL: `adapters/postgres/tables` says the same in SQLAlchemy's words, and a test compares the two.
"""

from typing import Final

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TABLES: Final = """
ALTER TABLE operations ADD COLUMN sent_to TEXT;
CREATE TABLE subscriptions (
    subscription_id TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    plan TEXT NOT NULL,
    price BIGINT NOT NULL,
    currency TEXT NOT NULL,
    tax_ppm INTEGER NOT NULL,
    tax_included BOOLEAN NOT NULL,
    start_on DATE NOT NULL,
    end_on DATE,
    settled BOOLEAN DEFAULT 'false' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT subscriptions_pkey PRIMARY KEY (subscription_id),
    CONSTRAINT subscriptions_amounts_check CHECK (price >= 0 AND tax_ppm BETWEEN 0 AND 1000000),
    CONSTRAINT subscriptions_days_check CHECK (end_on >= start_on)
);

CREATE INDEX subscriptions_customer_idx ON subscriptions (customer_id);

CREATE INDEX subscriptions_unsettled_idx ON subscriptions (start_on) WHERE NOT settled;

CREATE TABLE items (
    item_id TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    date DATE NOT NULL,
    description TEXT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    tax_ppm INTEGER NOT NULL,
    tax_included BOOLEAN NOT NULL,
    month TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT items_pkey PRIMARY KEY (item_id),
    CONSTRAINT items_tax_check CHECK (tax_ppm BETWEEN 0 AND 1000000)
);

CREATE INDEX items_unbilled_idx ON items (customer_id, date) WHERE month IS NULL;

CREATE TABLE billing_runs (
    month TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    rounding TEXT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT billing_runs_pkey PRIMARY KEY (month),
    CONSTRAINT billing_runs_month_check CHECK (month ~ '^[0-9]{4}-[0-9]{2}$'),
    CONSTRAINT billing_runs_rounding_check CHECK (rounding IN ('floor', 'half_up', 'ceil'))
);

CREATE TABLE bill_numbers (
    year SMALLINT NOT NULL,
    last BIGINT NOT NULL,
    CONSTRAINT bill_numbers_pkey PRIMARY KEY (year)
);

CREATE TABLE bills (
    customer_id TEXT NOT NULL,
    month TEXT NOT NULL,
    year SMALLINT NOT NULL,
    number BIGINT NOT NULL,
    period_start DATE NOT NULL,
    period_end DATE NOT NULL,
    currency TEXT NOT NULL,
    total BIGINT NOT NULL,
    taxes JSONB NOT NULL,
    settlement TEXT NOT NULL,
    carried_to TEXT,
    attempt INTEGER DEFAULT '0' NOT NULL,
    charge_key TEXT,
    issued_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT bills_pkey PRIMARY KEY (customer_id, month),
    CONSTRAINT bills_year_number_key UNIQUE (year, number),
    CONSTRAINT bills_period_check CHECK (period_end >= period_start),
    CONSTRAINT bills_charge_check CHECK ((settlement = 'charge') = (charge_key IS NOT NULL)),
    CONSTRAINT bills_carried_check CHECK (carried_to IS NULL OR settlement = 'carried'),
    CONSTRAINT bills_settlement_check CHECK (settlement IN ('charge', 'nothing', 'carried'))
);

CREATE INDEX bills_carried_idx ON bills (customer_id, month) WHERE settlement = 'carried' AND carried_to IS NULL;

CREATE UNIQUE INDEX bills_charge_idx ON bills (charge_key) WHERE charge_key IS NOT NULL;

CREATE INDEX bills_month_idx ON bills (month, customer_id);

CREATE TABLE bill_lines (
    customer_id TEXT NOT NULL,
    month TEXT NOT NULL,
    line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    text TEXT NOT NULL,
    amount BIGINT NOT NULL,
    tax_ppm INTEGER NOT NULL,
    tax_included BOOLEAN NOT NULL,
    tax BIGINT NOT NULL,
    first_day DATE,
    last_day DATE,
    CONSTRAINT bill_lines_pkey PRIMARY KEY (customer_id, month, line),
    CONSTRAINT bill_lines_kind_check CHECK (kind IN ('subscription', 'arrears', 'item', 'carried'))
);

CREATE UNIQUE INDEX bill_lines_days_idx ON bill_lines (source, first_day) WHERE kind IN ('subscription', 'arrears');

CREATE UNIQUE INDEX bill_lines_item_idx ON bill_lines (source) WHERE kind = 'item';

CREATE TABLE refunds (
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    refund_id TEXT NOT NULL,
    key TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    month TEXT NOT NULL,
    amount BIGINT NOT NULL,
    currency TEXT NOT NULL,
    origin TEXT NOT NULL,
    void BOOLEAN DEFAULT 'false' NOT NULL,
    state TEXT DEFAULT 'requested' NOT NULL,
    reference TEXT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT refunds_pkey PRIMARY KEY (refund_id),
    CONSTRAINT refunds_key_key UNIQUE (key),
    CONSTRAINT refunds_amount_check CHECK (amount > 0),
    CONSTRAINT refunds_origin_check CHECK (origin IN ('ikkai', 'provider')),
    CONSTRAINT refunds_state_check CHECK (state IN ('requested', 'pending', 'succeeded', 'failed'))
);

CREATE INDEX refunds_charge_idx ON refunds (customer_id, month);

CREATE UNIQUE INDEX refunds_reference_idx ON refunds (reference) WHERE reference IS NOT NULL;

CREATE TABLE workers (
    worker TEXT NOT NULL,
    role TEXT NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT workers_pkey PRIMARY KEY (worker),
    CONSTRAINT workers_role_check CHECK (role IN ('worker', 'dispatcher'))
);

CREATE INDEX operations_charge_idx ON operations ((result ->> 'reference'))
    WHERE kind = 'billing' AND result ? 'reference';
"""


def upgrade() -> None:
    op.execute(_TABLES)
