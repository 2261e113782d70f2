"""What a Redis says of itself that we depend on."""

from dataclasses import dataclass

import redis


@dataclass(frozen=True, slots=True)
class RedisFacts:
    """As `CONFIG GET` gives them; "unknown" where it is forbidden, as at many managed ones."""

    eviction: str
    append_only: str


def redis_facts(client: redis.Redis) -> RedisFacts | None:
    """Asks once. Returns: nothing when it does not answer."""
    try:
        return RedisFacts(_setting(client, "maxmemory-policy"), _setting(client, "appendonly"))
    except redis.RedisError:
        return None


def _setting(client: redis.Redis, name: str) -> str:
    try:
        return str(client.config_get(name).get(name, "unknown"))
    except redis.ResponseError:
        return "unknown"
