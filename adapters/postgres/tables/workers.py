"""Which workers are alive."""

from typing import Final

from sqlalchemy import Column, Table, Text

from adapters.postgres.tables.columns import MOMENT, NOW, metadata, one_of

workers: Final = Table(
    "workers",
    metadata,
    Column("worker", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("seen_at", MOMENT, nullable=False, server_default=NOW),
    one_of("role", "worker", "dispatcher"),
)
