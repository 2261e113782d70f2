"""Books in Postgres: SQLAlchemy Core over psycopg 3, set-based. Only `transactions` commits, for use cases."""
