"""`Doorbell` as Dramatiq messages."""

from collections.abc import Callable, Mapping

import redis
from dramatiq import Broker, Message

from domain.errors import Unavailable


class DramatiqDoorbell:
    """Puts one small message per ring on the queue of the kind's context.

    `first` is asked before each ring whether an equal one is still unheard.
    """

    def __init__(self, broker: Broker, actors: Mapping[str, str], first: Callable[[str, int], bool]) -> None:
        self._broker = broker
        self._actors = actors
        self._first = first

    def ring(self, kind: str, times: int) -> None:
        actor = self._actors[kind]
        queue = actor.partition(".")[0]
        try:
            for slot in range(times):
                if self._first(kind, slot):
                    self._broker.enqueue(Message(queue, actor, (), {"slot": slot, "version": 1}, {}))
        except redis.RedisError as failure:
            raise Unavailable(f"the queue did not answer: {failure}") from failure
