"""How an actor is declared: named `<context>.<function>`, on the queue of its context."""

import inspect
from collections.abc import Callable
from typing import Any, Final

import dramatiq

from domain.errors import Malformed, Refused, Unavailable

VERSION: Final = 1  # of the payloads that this program understands


def declare(broker: dramatiq.Broker, context: str, function: Callable[..., None], *, doorbell: bool = False) -> None:
    """Declares one actor; declaring it again replaces it by itself.

    Fields that `function` does not know are ignored, another version of the payload is refused. A `doorbell` carries
    nothing that could be lost.
    """
    known = inspect.signature(function).parameters

    def obey(*, version: int = VERSION, **fields: Any) -> None:
        if version != VERSION:
            raise Malformed("version", f"must be {VERSION}")
        for name, parameter in known.items():
            if parameter.default is inspect.Parameter.empty and name not in fields:
                raise Malformed(name, "is required")
        function(**{name: value for name, value in fields.items() if name in known})

    name = f"{context}.{function.__name__}"
    broker.actors.pop(name, None)
    options: dict[str, Any] = {"queue_name": context, "actor_name": name, "doorbell": doorbell}
    options["throws"] = (Refused, Unavailable)  # said in one line, not as our fault with a traceback
    dramatiq.actor(broker=broker, **options)(obey)
