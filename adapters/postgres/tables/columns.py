"""What the tables share: names of constraints, times, checks."""

from typing import Final

from sqlalchemy import CheckConstraint, MetaData, text
from sqlalchemy.dialects.postgresql import TIMESTAMP

metadata: Final = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)
MOMENT: Final = TIMESTAMP(timezone=True)
NOW: Final = text("ikkai_now()")


def one_of(column: str, *values: str) -> CheckConstraint:
    """That a column holds one of these."""
    return CheckConstraint(f"{column} IN ({', '.join(repr(value) for value in values)})", name=column)
