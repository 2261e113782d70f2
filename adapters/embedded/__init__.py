"""PostgreSQL and Redis without installing either: run from wheels, on demand, inside `IKKAI_HOME`.

The door is `adapters.embedded.servers`. May import: the standard library, psutil, psycopg and redis, nothing of ours.
"""
