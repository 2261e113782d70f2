"""How an actor is declared: named `<context>.<function>`, on the queue of its context."""

from collections.abc import Callable
from typing import Any

import dramatiq


def declare(broker: dramatiq.Broker, context: str, function: Callable[..., None]) -> None:
    """Declares one actor; declaring it again replaces it by itself."""
    broker.actors.pop(f"{context}.{function.__name__}", None)
    options: dict[str, Any] = {"queue_name": context, "actor_name": f"{context}.{function.__name__}"}
    dramatiq.actor(broker=broker, **options)(function)
