"""`WorkerBook` on the table workers."""

from typing import Final

from sqlalchemy import Connection, text

from application.workers import Role

_SEEN: Final = text(
    "INSERT INTO workers (worker, role, seen_at) VALUES (:worker, :role, ikkai_now())"
    " ON CONFLICT (worker) DO UPDATE SET seen_at = excluded.seen_at"
)
_FORGET: Final = text("DELETE FROM workers WHERE worker = :worker OR seen_at < ikkai_now() - interval '1 day'")
_ALIVE: Final = text(
    "SELECT count(DISTINCT role) FROM workers WHERE seen_at > ikkai_now() - make_interval(secs => :within_seconds)"
    " AND seen_at < ikkai_now() + make_interval(secs => :within_seconds)"
)


class PostgresWorkerBook:
    """Workers that said they are alive, each a row."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def seen(self, name: str, role: Role) -> None:
        self._connection.execute(_SEEN, {"worker": name, "role": str(role)})

    def forget(self, name: str) -> None:
        self._connection.execute(_FORGET, {"worker": name})

    def are_alive(self, within_seconds: float) -> bool:
        roles: int = self._connection.execute(_ALIVE, {"within_seconds": within_seconds}).scalar_one()
        return roles == len(Role)
