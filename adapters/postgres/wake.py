"""The bell that wakes dispatchers: rung by the transaction that makes work due, heard when it commits."""

from typing import Final

from sqlalchemy import text

CHANNEL: Final = "ikkai_work"
WAKE: Final = text(f"SELECT pg_notify('{CHANNEL}', '')")
