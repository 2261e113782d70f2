"""Orders, points, operations: the tables of the main job.

Frozen SQL: `adapters/postgres/tables` says the same in SQLAlchemy's words, and a test compares the two.
"""

from typing import Final

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# The one clock. STABLE on purpose (one instant per call of the planner's choice, and usable by an index), although
# clock_timestamp() moves: now() would be the transaction's start, which a lease computed late has partly spent.
_NOW: Final = """
CREATE FUNCTION ikkai_now() RETURNS timestamptz LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN clock_timestamp() + coalesce(nullif(current_setting('ikkai.clock_offset', true), ''), '0')::interval;
END
$$;
"""

_TABLES: Final = """
CREATE TABLE customers (
    customer_id TEXT NOT NULL,
    email TEXT,
    name TEXT,
    locale TEXT DEFAULT 'ja' NOT NULL,
    payment_method TEXT,
    payment_customer TEXT,
    closing_day SMALLINT DEFAULT '31' NOT NULL,
    as_of TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT customers_pkey PRIMARY KEY (customer_id),
    CONSTRAINT customers_locale_check CHECK (locale IN ('ja', 'en')),
    CONSTRAINT customers_closing_day_check CHECK (closing_day BETWEEN 1 AND 31)
);

CREATE TABLE order_events (
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    source TEXT NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    time TIMESTAMP WITH TIME ZONE NOT NULL,
    subject TEXT NOT NULL,
    revision BIGINT NOT NULL,
    data TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    state TEXT DEFAULT 'accepted' NOT NULL,
    reason TEXT,
    accepted_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    settled_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT order_events_pkey PRIMARY KEY (seq),
    CONSTRAINT order_events_source_event_id_key UNIQUE (source, event_id),
    CONSTRAINT order_events_state_check CHECK (
        state IN ('accepted', 'applied', 'ignored', 'conflict', 'waiting', 'parked')
    )
);

CREATE INDEX order_events_attention_idx ON order_events (state, seq) WHERE state IN ('conflict', 'waiting', 'parked');

CREATE INDEX order_events_due_idx ON order_events (seq) WHERE state = 'accepted';

CREATE INDEX order_events_subject_idx ON order_events (subject);

CREATE TABLE event_conflicts (
    source TEXT NOT NULL,
    event_id TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    type TEXT NOT NULL,
    time TIMESTAMP WITH TIME ZONE NOT NULL,
    subject TEXT NOT NULL,
    revision BIGINT NOT NULL,
    data TEXT NOT NULL,
    received_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT event_conflicts_pkey PRIMARY KEY (source, event_id, fingerprint)
);

CREATE TABLE orders (
    order_id TEXT NOT NULL,
    status TEXT NOT NULL,
    revision BIGINT,
    event_time TIMESTAMP WITH TIME ZONE,
    event_id TEXT,
    customer_id TEXT,
    content BYTEA,
    currency TEXT,
    total BIGINT,
    points BIGINT DEFAULT '0' NOT NULL,
    ship_to TEXT,
    grant_reason TEXT,
    confirmations INTEGER DEFAULT '0' NOT NULL,
    shipments INTEGER DEFAULT '0' NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT orders_pkey PRIMARY KEY (order_id),
    CONSTRAINT orders_status_check CHECK (status IN ('announced', 'confirmed', 'cancelled')),
    CONSTRAINT orders_amounts_check CHECK (total >= 0 AND points >= 0)
);

CREATE TABLE point_balances (
    customer_id TEXT NOT NULL,
    balance BIGINT DEFAULT '0' NOT NULL,
    CONSTRAINT point_balances_pkey PRIMARY KEY (customer_id)
);

CREATE TABLE point_lots (
    order_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    customer_id TEXT NOT NULL,
    points BIGINT NOT NULL,
    remaining BIGINT NOT NULL,
    reversed BIGINT DEFAULT '0' NOT NULL,
    expired BIGINT DEFAULT '0' NOT NULL,
    expires_on DATE NOT NULL,
    granted_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT point_lots_pkey PRIMARY KEY (order_id, reason),
    CONSTRAINT point_lots_signs_check CHECK (points > 0 AND remaining >= 0 AND reversed >= 0 AND expired >= 0),
    CONSTRAINT point_lots_parts_check CHECK (remaining <= points AND reversed + expired <= points)
);

CREATE INDEX point_lots_open_idx ON point_lots (customer_id, expires_on, granted_at) WHERE remaining > 0;

CREATE TABLE point_entries (
    entry_id BIGINT GENERATED ALWAYS AS IDENTITY,
    customer_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    points BIGINT NOT NULL,
    order_id TEXT,
    reason TEXT NOT NULL,
    cause TEXT,
    at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    CONSTRAINT point_entries_pkey PRIMARY KEY (entry_id),
    CONSTRAINT point_entries_kind_check CHECK (kind IN ('grant', 'redeem', 'reverse', 'restore', 'expire')),
    CONSTRAINT point_entries_cause_check CHECK ((kind = 'grant') = (cause IS NULL)),
    CONSTRAINT point_entries_points_check CHECK (points <> 0 AND (points > 0) = (kind IN ('grant', 'restore')))
);

CREATE INDEX point_entries_customer_idx ON point_entries (customer_id, entry_id);

CREATE UNIQUE INDEX point_entries_once_idx ON point_entries (order_id, reason, kind, cause) WHERE kind <> 'grant';

CREATE TABLE operations (
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    number INTEGER DEFAULT '1' NOT NULL,
    request TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    state TEXT DEFAULT 'ready' NOT NULL,
    epoch INTEGER DEFAULT '0' NOT NULL,
    attempts INTEGER DEFAULT '0' NOT NULL,
    worker_deaths INTEGER DEFAULT '0' NOT NULL,
    flagged BOOLEAN DEFAULT 'false' NOT NULL,
    claimed_by TEXT,
    lease_until TIMESTAMP WITH TIME ZONE,
    sent_at TIMESTAMP WITH TIME ZONE,
    first_sent_at TIMESTAMP WITH TIME ZONE,
    next_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    reason TEXT,
    result JSONB DEFAULT '{}' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    settled_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT operations_pkey PRIMARY KEY (key),
    CONSTRAINT operations_state_check CHECK (
        state IN ('ready', 'processing', 'completed', 'refused', 'needs_confirmation', 'parked')
    ),
    CONSTRAINT operations_key_check CHECK (key ~ '^[!-~]{1,255}$'),
    CONSTRAINT operations_lease_check CHECK ((state = 'processing') = (lease_until IS NOT NULL)),
    CONSTRAINT operations_sent_check CHECK (sent_at IS NULL OR first_sent_at IS NOT NULL)
);

CREATE INDEX operations_attention_idx ON operations (kind, next_at) WHERE state IN ('needs_confirmation', 'parked');

CREATE INDEX operations_due_idx ON operations (kind, next_at) WHERE state = 'ready';

CREATE INDEX operations_leased_idx ON operations (lease_until) WHERE state = 'processing';

CREATE INDEX operations_subject_idx ON operations (subject);

CREATE TABLE operation_attempts (
    key TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    claimed_by TEXT NOT NULL,
    claimed_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    sent_at TIMESTAMP WITH TIME ZONE,
    settled_at TIMESTAMP WITH TIME ZONE,
    state TEXT,
    reason TEXT,
    CONSTRAINT operation_attempts_pkey PRIMARY KEY (key, epoch)
);

CREATE TABLE operation_decisions (
    decision_id BIGINT GENERATED ALWAYS AS IDENTITY,
    key TEXT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    decided_by TEXT NOT NULL,
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    reason TEXT,
    evidence TEXT NOT NULL,
    CONSTRAINT operation_decisions_pkey PRIMARY KEY (decision_id)
);

CREATE INDEX operation_decisions_key_idx ON operation_decisions (key);

CREATE TABLE dead_letters (
    letter_id BIGINT GENERATED ALWAYS AS IDENTITY,
    received_at TIMESTAMP WITH TIME ZONE DEFAULT ikkai_now() NOT NULL,
    queue TEXT NOT NULL,
    body BYTEA NOT NULL,
    digest BYTEA NOT NULL,
    reason TEXT NOT NULL,
    CONSTRAINT dead_letters_pkey PRIMARY KEY (letter_id),
    CONSTRAINT dead_letters_queue_digest_key UNIQUE (queue, digest)
);
"""

_APPEND_ONLY: Final = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER point_entries_append_only BEFORE UPDATE OR DELETE ON point_entries
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER point_entries_no_truncate BEFORE TRUNCATE ON point_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operation_decisions_append_only BEFORE UPDATE OR DELETE ON operation_decisions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operation_decisions_no_truncate BEFORE TRUNCATE ON operation_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""


def upgrade() -> None:
    for statements in (_NOW, _TABLES, _APPEND_ONLY):
        op.execute(statements)
