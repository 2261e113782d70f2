"""The articles' "unique job": a lock that spares the queue equal doorbells. It saves work and decides nothing."""

from typing import Final

import redis

# How long a ring may stay unheard before it is rung again: the price of one lost message, in latency.
UNHEARD_MILLISECONDS: Final = 3_000


class RedisRings:
    """Which doorbells are rung and not yet heard. Redis may be emptied at any moment: then one rings twice."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def first(self, kind: str, slot: int) -> bool:
        """Whether no equal ring is still unheard."""
        return bool(self._client.set(_name(kind, slot), "1", nx=True, px=UNHEARD_MILLISECONDS))

    def heard(self, kind: str, slot: int) -> None:
        """A worker has come to the door: the next ring may go out at once."""
        try:
            self._client.delete(_name(kind, slot))
        except redis.RedisError:
            return  # it runs out by itself


def _name(kind: str, slot: int) -> str:
    return f"ikkai:ring:{kind}:{slot}"
