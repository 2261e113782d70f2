"""Alembic's room: the schema as a sum of steps. `ikkai migrate` takes them."""
