"""The bell that wakes dispatchers: rung by the transaction that makes work due, heard when it commits."""

import logging
import time
from typing import Final

import psycopg
from sqlalchemy import Engine, text

logger = logging.getLogger(__name__)

CHANNEL: Final = "ikkai_work"
WAKE: Final = text(f"SELECT pg_notify('{CHANNEL}', '')")


class PostgresWake:
    """Listens on a connection of its own. A bell may be missed (no listener, a pooler): whoever waits also polls."""

    def __init__(self, engine: Engine) -> None:
        self._url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._connection: psycopg.Connection | None = None

    def wait(self, seconds: float) -> bool:
        """Waits until the bell is rung, at most `seconds`. Returns: whether it was."""
        started = time.monotonic()
        try:
            if self._connection is None:
                self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=5)
                self._connection.execute(f"LISTEN {CHANNEL}")
                return True  # what was rung before we listened
            return any(True for _ in self._connection.notifies(timeout=seconds, stop_after=1))
        except psycopg.Error as failure:
            logger.warning("not listening for now: %s", str(failure).strip())
            self.close()
            time.sleep(max(0.0, seconds - (time.monotonic() - started)))
            return False

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
