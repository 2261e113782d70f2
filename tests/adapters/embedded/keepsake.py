"""Something in both servers that has to be there the next time."""

import psycopg
import redis

from adapters.embedded import ServerUrls


def write_something(urls: ServerUrls) -> None:
    with psycopg.connect(urls.database_url) as database:
        database.execute("CREATE TABLE kept AS SELECT 'ポイント' AS what")
    with redis.Redis.from_url(urls.broker_url) as broker:
        broker.set("kept", "ポイント")


def assert_it_is_kept(urls: ServerUrls) -> None:
    with psycopg.connect(urls.database_url) as database:
        assert database.execute("SELECT what FROM kept").fetchone() == ("ポイント",)
    with redis.Redis.from_url(urls.broker_url, decode_responses=True) as broker:
        assert broker.get("kept") == "ポイント"
