"""What is billed, and the bills, in Postgres."""

from adapters.postgres.billing.bills import PostgresBillBook
from adapters.postgres.billing.plans import PostgresPlanBook

__all__ = ["PostgresBillBook", "PostgresPlanBook"]
