"""The embedded servers, as real processes: shared, killed, frozen, starved of their files, and started again.

May import: `adapters.embedded`, psutil, psycopg, redis and SQLAlchemy.
"""
