"""What becomes of a message whose actor failed; `next_at` in Postgres is the retry, not Dramatiq's own."""

from typing import Any

from dramatiq import Broker, MessageProxy, Middleware
from dramatiq.middleware import Interrupt

from domain.errors import Unavailable


class SortFailures(Middleware):
    """No answer from the database: the message goes back on its queue. Anything else that failed: a dead letter.

    Without this a failed message would be acknowledged, and what a producer put into it be lost. A doorbell that failed
    is: it carries nothing, and what it rang for is rung for again.
    """

    @property
    def actor_options(self) -> set[str]:
        return {"doorbell", "throws"}

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        if exception is None or broker.get_actor(message.actor_name).options.get("doorbell"):
            return
        if isinstance(exception, (Unavailable, Interrupt)):
            message.put_back = True  # type: ignore[attr-defined]
        else:
            message.why = f"{type(exception).__name__}: {exception}"  # type: ignore[attr-defined]
            message.fail()
