"""Each arrow of the operation's state machine as one statement over many rows, fenced by state and epoch."""

from typing import Final

from sqlalchemy import text

from adapters.postgres.clock import CLOCK

DUE_BOUND: Final = 1_000  # more than is ever rung for at once

COLUMNS: Final = """
    key, kind, subject, number, request, state, epoch, attempts, first_sent_at, sent_at, sent_to, next_at, reason,
    result, flagged, worker_deaths, created_at
"""
OF_OPERATION: Final = ", ".join(f"operation.{column.strip()}" for column in COLUMNS.split(","))
_FENCED: Final = "unnest(CAST(:keys AS text[]), CAST(:epochs AS int[])) AS mine (key, epoch)"

REGISTER: Final = text(
    f"""
    WITH {CLOCK}
    INSERT INTO operations (key, kind, subject, number, request, fingerprint, next_at, created_at)
    SELECT new.*, clock.now, clock.now
    FROM unnest(CAST(:keys AS text[]), CAST(:kinds AS text[]), CAST(:subjects AS text[]), CAST(:numbers AS int[]),
                CAST(:requests AS text[]), CAST(:prints AS bytea[]))
         AS new (key, kind, subject, number, request, fingerprint),
         clock
    ORDER BY key
    ON CONFLICT (key) DO NOTHING
    RETURNING key
    """
)
FINGERPRINTS: Final = text("SELECT key, fingerprint FROM operations WHERE key = ANY(CAST(:keys AS text[]))")

# An attempt that is claimed but not gated has sent nothing: the raised epoch closes its gate.
WITHDRAW_UNSENT: Final = text(
    """
    UPDATE operations AS operation
    SET state = 'refused', reason = :reason, epoch = operation.epoch + 1, lease_until = NULL, settled_at = ikkai_now()
    FROM (
        SELECT key FROM operations
        WHERE key = ANY(CAST(:keys AS text[])) AND state IN ('ready', 'parked', 'processing') AND first_sent_at IS NULL
        ORDER BY key FOR UPDATE
    ) AS unsent
    WHERE operation.key = unsent.key
    """
)
# Asked under the locks taken before the withdrawal: a send that is settled meanwhile cannot fall between the two.
LOCK_EACH: Final = text("SELECT key FROM operations WHERE key = ANY(CAST(:keys AS text[])) ORDER BY key FOR UPDATE")
NOT_WITHDRAWN: Final = text(
    "SELECT key FROM operations WHERE key = ANY(CAST(:keys AS text[])) AND state <> 'refused' ORDER BY key"
)

# What died with its worker twice may be what killed it: it is taken alone, so that it takes no others with it.
CLAIM: Final = text(
    f"""
    WITH {CLOCK}, oldest AS (
        SELECT key, next_at, attempts >= :max_attempts AS exhausted, first_sent_at IS NOT NULL AS sent,
               worker_deaths > 1 AND attempts < :max_attempts AS suspect
        FROM operations
        WHERE kind = :kind AND state = 'ready' AND next_at <= ikkai_now()
          AND (CAST(:key AS text) IS NULL OR key = :key)
        ORDER BY next_at
        LIMIT :limit
        FOR UPDATE SKIP LOCKED
    ),
    first AS (SELECT key, suspect FROM oldest ORDER BY next_at, key LIMIT 1),
    due AS (
        SELECT oldest.key, exhausted, sent FROM oldest, first
        WHERE CASE WHEN first.suspect THEN oldest.key = first.key ELSE NOT oldest.suspect END
    )
    UPDATE operations AS operation
    SET state = CASE WHEN NOT due.exhausted THEN 'processing' WHEN due.sent THEN 'needs_confirmation' ELSE 'parked' END,
        reason = CASE WHEN NOT due.exhausted THEN operation.reason
                      ELSE concat_ws(': ', format('given up after %s attempts', operation.attempts), operation.reason)
                 END,
        epoch = operation.epoch + 1,
        attempts = operation.attempts + CASE WHEN due.exhausted THEN 0 ELSE 1 END,
        claimed_by = :worker,
        lease_until = CASE WHEN NOT due.exhausted THEN clock.now + make_interval(secs => :lease_seconds) END,
        sent_at = NULL
    FROM due, clock
    WHERE operation.key = due.key
    RETURNING {OF_OPERATION}
    """
)
# A claim whose COMMIT was answered by silence: it is this claimant's if its name stands there.
CLAIMED_BEFORE: Final = text(
    f"SELECT {COLUMNS} FROM operations WHERE state = 'processing' AND claimed_by = :worker AND kind = :kind"
)
NOTE_ATTEMPTS: Final = text(
    f"""
    INSERT INTO operation_attempts (key, epoch, claimed_by, claimed_at)
    SELECT mine.key, mine.epoch, :worker, ikkai_now() FROM {_FENCED} ORDER BY mine.key
    """
)

GATE: Final = text(
    f"""
    WITH {CLOCK}, open AS (
        SELECT operation.key FROM operations AS operation JOIN {_FENCED} USING (key, epoch)
        WHERE operation.state = 'processing'
          AND operation.lease_until > ikkai_now() + make_interval(secs => :outlasting_seconds)
        ORDER BY operation.key FOR UPDATE OF operation
    )
    UPDATE operations AS operation
    SET sent_at = coalesce(operation.sent_at, clock.now), first_sent_at = coalesce(operation.first_sent_at, clock.now),
        sent_to = coalesce(operation.sent_to, :sent_to)
    FROM open, clock
    WHERE operation.key = open.key
    RETURNING {OF_OPERATION}
    """
)
NOTE_SENT: Final = text(
    f"""
    UPDATE operation_attempts AS attempt SET sent_at = ikkai_now()
    FROM {_FENCED} WHERE attempt.key = mine.key AND attempt.epoch = mine.epoch
    """
)

# `attempts` given back, `first_sent_at` undone where surely nothing was sent, results added to what is known.
_STEPS: Final = """
    unnest(CAST(:keys AS text[]), CAST(:epochs AS int[]), CAST(:states AS text[]), CAST(:reasons AS text[]),
           CAST(:results AS text[]), CAST(:waits AS float8[]), CAST(:given_back AS int[]), CAST(:unsent AS bool[]),
           CAST(:flagged AS bool[]), CAST(:deaths AS int[]))
    AS step (key, epoch, state, reason, result, wait_seconds, given_back, unsent, flagged, deaths)
"""
_STEP: Final = f"""
    WITH {CLOCK}, held AS (
        SELECT step.* FROM operations AS operation JOIN {_STEPS} USING (key, epoch)
        WHERE operation.state = :expected
        ORDER BY operation.key FOR UPDATE OF operation
    )
    UPDATE operations AS operation
    SET state = held.state,
        reason = held.reason,
        result = operation.result || CAST(held.result AS jsonb),
        next_at = clock.now + make_interval(secs => held.wait_seconds),
        attempts = operation.attempts - held.given_back,
        worker_deaths = operation.worker_deaths + held.deaths,
        flagged = held.flagged,
        lease_until = NULL,
        sent_at = CASE WHEN held.unsent THEN NULL ELSE operation.sent_at END,
        first_sent_at = CASE WHEN held.unsent THEN NULL ELSE operation.first_sent_at END,
        sent_to = CASE WHEN held.unsent THEN NULL ELSE operation.sent_to END,
        settled_at = CASE WHEN held.state IN ('completed', 'refused') THEN clock.now END
    FROM held, clock
    WHERE operation.key = held.key
    RETURNING operation.key
"""
SETTLE: Final = text(_STEP)
NOTE_SETTLED: Final = text(
    f"""
    UPDATE operation_attempts AS attempt SET settled_at = ikkai_now(), state = step.state, reason = step.reason
    FROM {_STEPS}
    WHERE attempt.key = step.key AND attempt.epoch = step.epoch AND step.key = ANY(CAST(:written AS text[]))
    """
)

EXPIRED: Final = text(
    f"SELECT {COLUMNS} FROM operations WHERE state = 'processing' AND lease_until <= ikkai_now()"
    " ORDER BY lease_until LIMIT :limit FOR UPDATE SKIP LOCKED"
)
UNCONFIRMED: Final = text(
    f"""
    SELECT {COLUMNS} FROM operations
    WHERE state = 'needs_confirmation' AND NOT flagged AND kind = ANY(CAST(:kinds AS text[]))
      AND next_at <= ikkai_now()
    ORDER BY next_at LIMIT :limit
    """
)

HASTEN: Final = text(
    "UPDATE operations SET next_at = ikkai_now() WHERE key = :key AND state IN ('ready', 'needs_confirmation')"
    " AND next_at > ikkai_now()"
)

DECIDE: Final = text(
    """
    UPDATE operations
    SET state = :state, reason = :reason, result = result || CAST(:result AS jsonb), epoch = epoch + 1, attempts = 0,
        worker_deaths = 0, flagged = false, next_at = ikkai_now(),
        sent_at = CASE WHEN :unsent THEN NULL ELSE sent_at END,
        first_sent_at = CASE WHEN :unsent THEN NULL ELSE first_sent_at END,
        sent_to = CASE WHEN :unsent THEN NULL ELSE sent_to END,
        settled_at = CASE WHEN :state IN ('completed', 'refused') THEN ikkai_now() END
    WHERE key = :key AND state = :expected
    RETURNING key
    """
)
NOTE_DECISION: Final = text(
    """
    INSERT INTO operation_decisions (key, decided_by, from_state, to_state, reason, evidence)
    VALUES (:key, :by, :expected, :state, :reason, :evidence)
    """
)

GET: Final = text(f"SELECT {COLUMNS} FROM operations WHERE key = :key")
GET_LOCKED: Final = text(f"SELECT {COLUMNS} FROM operations WHERE key = :key FOR UPDATE")
GET_EACH: Final = text(f"SELECT {COLUMNS} FROM operations WHERE key = ANY(CAST(:keys AS text[]))")
OF_SUBJECT: Final = text(f"SELECT {COLUMNS} FROM operations WHERE subject = :subject AND kind = :kind ORDER BY number")
FIND: Final = text(
    f"""
    SELECT {COLUMNS} FROM operations
    WHERE (cardinality(CAST(:states AS text[])) = 0 OR state = ANY(CAST(:states AS text[])))
      AND (cardinality(CAST(:kinds AS text[])) = 0 OR kind = ANY(CAST(:kinds AS text[])))
      AND (CAST(:subject AS text) IS NULL OR subject = :subject)
    ORDER BY created_at DESC, key
    LIMIT :limit
    """
)
# Bounded per kind: a crowd of one must not hide another.
DUE: Final = text(
    f"""
    SELECT asked.kind, due.count
    FROM unnest(CAST(:kinds AS text[])) AS asked (kind)
    CROSS JOIN LATERAL (
        SELECT count(*) AS count FROM (
            SELECT FROM operations
            WHERE kind = asked.kind AND state = 'ready' AND next_at <= ikkai_now()
            LIMIT {DUE_BOUND}
        ) AS bounded
    ) AS due
    """
)
UNDER_WAY: Final = text("SELECT count(*) FROM operations WHERE state = 'processing'")
STORY: Final = text(
    """
    SELECT claimed_at AS at, 'claimed' AS what, claimed_by AS who, NULL AS detail
    FROM operation_attempts WHERE key = :key
    UNION ALL
    SELECT sent_at, 'sent', claimed_by, NULL FROM operation_attempts WHERE key = :key AND sent_at IS NOT NULL
    UNION ALL
    SELECT settled_at, state, claimed_by, reason FROM operation_attempts WHERE key = :key AND settled_at IS NOT NULL
    UNION ALL
    SELECT at, 'decided: ' || to_state, decided_by, concat_ws('; ', reason, evidence)
    FROM operation_decisions WHERE key = :key
    ORDER BY at
    """
)
