"""Books in Postgres: SQLAlchemy Core over psycopg 3, set-based. Never commits: only `transactions` does, for use cases."""
