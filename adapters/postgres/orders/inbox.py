"""The inbox of order events: a row per delivery, worked off by state and never by a cursor."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, text

from adapters.postgres.clock import CLOCK
from adapters.postgres.wake import WAKE
from domain.orders.events import Arrival, EventState, EventType, OrderEvent, StoredEvent, Verdict

DUE_BOUND: Final = 10_000  # more than is ever rung for at once

_COLUMNS: Final = "source, event_id, type, time, subject, revision, data, fingerprint"
_NEW: Final = f"""
    unnest(CAST(:sources AS text[]), CAST(:ids AS text[]), CAST(:types AS text[]), CAST(:times AS timestamptz[]),
           CAST(:subjects AS text[]), CAST(:revisions AS bigint[]), CAST(:datas AS text[]), CAST(:prints AS bytea[]))
    WITH ORDINALITY AS new ({_COLUMNS}, place)
"""
# Numbered in the order of arrival, which is the sequence of an order's events; stored in the order of their ids, so
# that sets which overlap do not wait for each other in a circle.
_STORE: Final = text(
    f"""
    WITH {CLOCK}, numbered AS MATERIALIZED (
        SELECT {_COLUMNS}, nextval(pg_get_serial_sequence('order_events', 'seq')) AS seq
        FROM (SELECT * FROM {_NEW} ORDER BY place) AS arrived
    )
    INSERT INTO order_events (seq, {_COLUMNS}, accepted_at) OVERRIDING SYSTEM VALUE
    SELECT seq, {_COLUMNS}, clock.now FROM numbered, clock ORDER BY source, event_id, seq
    ON CONFLICT (source, event_id) DO NOTHING
    RETURNING source, event_id
    """
)
_KNOWN: Final = text(
    """
    SELECT source, event_id, fingerprint FROM order_events
    JOIN unnest(CAST(:sources AS text[]), CAST(:ids AS text[])) AS asked (source, event_id) USING (source, event_id)
    """
)
_KEEP_CONFLICTS: Final = text(
    f"INSERT INTO event_conflicts ({_COLUMNS}) SELECT {_COLUMNS} FROM {_NEW} ON CONFLICT DO NOTHING"
)
_TAKEN: Final = "seq, source, event_id, type, time, subject, revision, data"
# An event waits while an earlier one of its order or customer is in another worker's hands: a file's sequence holds.
_TAKE: Final = text(
    f"""
    WITH taken AS (
        SELECT {_TAKEN} FROM order_events WHERE state = 'accepted' ORDER BY seq LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    SELECT * FROM taken
    WHERE NOT EXISTS (
        SELECT FROM order_events AS earlier
        WHERE earlier.subject = taken.subject AND earlier.state = 'accepted' AND earlier.seq < taken.seq
          AND earlier.seq NOT IN (SELECT seq FROM taken)
    )
    ORDER BY seq
    """
)
_TAKE_THESE: Final = text(
    f"SELECT {_TAKEN} FROM order_events WHERE state = 'accepted' AND seq = ANY(CAST(:seqs AS bigint[]))"
    " ORDER BY seq FOR UPDATE SKIP LOCKED"
)
_TAKE_PARKED: Final = text(
    f"SELECT {_TAKEN} FROM order_events WHERE state = 'parked' AND source = :source AND event_id = :id FOR UPDATE"
)
_MARK: Final = text(
    f"""
    WITH {CLOCK}
    UPDATE order_events SET state = done.state, reason = done.reason, settled_at = clock.now
    FROM unnest(CAST(:seqs AS bigint[]), CAST(:states AS text[]), CAST(:reasons AS text[]))
         AS done (seq, state, reason),
         clock
    WHERE order_events.seq = done.seq
    """
)
_FIND: Final = text(
    """
    SELECT * FROM (
        SELECT seq, source, event_id, type, time, subject, revision, data, state, reason, accepted_at AS received_at
        FROM order_events
        UNION ALL
        SELECT NULL, source, event_id, type, time, subject, revision, data, 'conflict',
               'this source and id are known with other content', received_at
        FROM event_conflicts
    ) AS event
    WHERE (CAST(:subject AS text) IS NULL OR subject = :subject)
      AND (cardinality(CAST(:states AS text[])) = 0 OR state = ANY(CAST(:states AS text[])))
      AND (CAST(:of_customers AS bool) IS NULL OR (type LIKE 'customer.%') = :of_customers)
    ORDER BY received_at DESC, seq DESC NULLS FIRST
    LIMIT :limit
    """
)
_DUE: Final = text(f"SELECT count(*) FROM (SELECT FROM order_events WHERE state = 'accepted' LIMIT {DUE_BOUND}) AS due")


class PostgresEventInbox:
    """`EventInbox` on the tables order_events and event_conflicts."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def store_each(self, events: Sequence[OrderEvent]) -> Sequence[Arrival]:
        first: dict[tuple[str, str], OrderEvent] = {}
        for event in events:
            first.setdefault((event.source, event.id), event)
        stored = {tuple(row) for row in self._connection.execute(_STORE, _columns(list(first.values())))}
        known = {fact: event.fingerprint for fact, event in first.items() if fact in stored}
        asked = [fact for fact in first if fact not in stored]
        if asked:
            facts = {"sources": [source for source, _ in asked], "ids": [id_ for _, id_ in asked]}
            for row in self._connection.execute(_KNOWN, facts):
                known[row.source, row.event_id] = row.fingerprint
        arrivals = []
        for event in events:
            fact = (event.source, event.id)
            if known[fact] != event.fingerprint:
                arrivals.append(Arrival.CONFLICT)
            elif fact in stored:
                stored.remove(fact)
                arrivals.append(Arrival.NEW)
            else:
                arrivals.append(Arrival.DUPLICATE)
        self._keep_conflicts(
            [event for event, arrival in zip(events, arrivals, strict=True) if arrival is Arrival.CONFLICT]
        )
        if Arrival.NEW in arrivals:
            self._connection.execute(WAKE)
        return arrivals

    def _keep_conflicts(self, events: Sequence[OrderEvent]) -> None:
        if events:
            self._connection.execute(_KEEP_CONFLICTS, _columns(events))

    def take(self, limit: int) -> Sequence[StoredEvent]:
        return [_stored(row) for row in self._connection.execute(_TAKE, {"limit": limit})]

    def take_these(self, seqs: Sequence[int]) -> Sequence[StoredEvent]:
        return [_stored(row) for row in self._connection.execute(_TAKE_THESE, {"seqs": list(seqs)})]

    def take_parked(self, source: str, event_id: str) -> StoredEvent | None:
        row = self._connection.execute(_TAKE_PARKED, {"source": source, "id": event_id}).one_or_none()
        return None if row is None else _stored(row)

    def mark(self, verdicts: Mapping[int, Verdict]) -> None:
        if any(verdict.state is EventState.ACCEPTED for verdict in verdicts.values()):
            self._connection.execute(WAKE)
        if verdicts:
            self._connection.execute(
                _MARK,
                {
                    "seqs": list(verdicts),
                    "states": [str(verdict.state) for verdict in verdicts.values()],
                    "reasons": [verdict.reason for verdict in verdicts.values()],
                },
            )

    def find(
        self, *, states: Sequence[EventState], subject: str | None, of_customers: bool | None = None, limit: int | None
    ) -> Sequence[Mapping[str, Any]]:
        rows = self._connection.execute(
            _FIND,
            {
                "states": [str(state) for state in states],
                "subject": subject,
                "of_customers": of_customers,
                "limit": limit,
            },
        )
        return [{**row._mapping, "data": json.loads(row.data)} for row in rows]

    def due(self) -> int:
        count: int = self._connection.execute(_DUE).scalar_one()
        return count


def _columns(events: Sequence[OrderEvent]) -> dict[str, list[object]]:
    return {
        "sources": [event.source for event in events],
        "ids": [event.id for event in events],
        "types": [str(event.type) for event in events],
        "times": [event.time for event in events],
        "subjects": [event.subject for event in events],
        "revisions": [event.revision for event in events],
        "datas": [event.text for event in events],
        "prints": [event.fingerprint for event in events],
    }


def _stored(row: Row[Any]) -> StoredEvent:
    event = OrderEvent(
        row.source, row.event_id, EventType(row.type), row.time, row.subject, row.revision, json.loads(row.data)
    )
    return StoredEvent(row.seq, event)
