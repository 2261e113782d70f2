"""Messages that no actor could take: kept, so that nothing that came in vanishes unseen."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, text

_KEEP: Final = text(
    "INSERT INTO dead_letters (queue, body, digest, reason) VALUES (:queue, :body, :digest, :reason)"
    " ON CONFLICT DO NOTHING"
)
_FIND: Final = text(
    "SELECT letter_id, received_at, queue, body, reason FROM dead_letters ORDER BY letter_id DESC LIMIT :limit"
)


class PostgresDeadLetters:
    """`DeadLetters` on the table dead_letters; the same message on the same queue is kept once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def keep(self, queue: str, body: bytes, reason: str) -> None:
        letter = {"queue": queue, "body": body, "digest": hashlib.sha256(body).digest(), "reason": reason}
        self._connection.execute(_KEEP, letter)

    def find(self, limit: int | None) -> Sequence[Mapping[str, Any]]:
        rows = self._connection.execute(_FIND, {"limit": limit})
        return [{**row._mapping, "body": row.body.decode("utf-8", "replace")} for row in rows]
