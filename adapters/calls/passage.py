"""One request on its way: how far it has come, and every way in which it ends."""

from collections.abc import Awaitable, Callable

import anyio

from adapters.calls.deadline import Deadline
from adapters.calls.replies import NoReply, Reply


class Passage:
    """How far one request has come: not yet connected, or perhaps on its way."""

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline
        self.was_sent = False

    def note_sending(self) -> None:
        """From here on the request counts as sent."""
        self.was_sent = True

    def look_at_the_clock(self) -> None:
        """The last look before the first byte: this process may have been frozen while it connected.

        Raises: NoReply where too little time is left.
        """
        if self.deadline.left_to_send_seconds() < 0:
            raise NoReply("not sent: too little time was left", was_sent=False)


async def reply_in_time(
    passage: Passage, exchange: Callable[[], Awaitable[Reply]], *, connecting: type[Exception]
) -> Reply:
    """What `exchange` gives by the deadline. Of its failures while `connecting`, the text is shown.

    Raises: NoReply, for every way in which no whole answer came.
    """
    with anyio.move_on_after(passage.deadline.left_seconds()):
        try:
            return await exchange()
        except NoReply:
            raise
        except Exception as failure:  # any, since the other calls of the set must keep their answers
            # Only what happens while connecting is quoted: other texts quote headers, and those hold our secrets.
            name = type(failure).__name__
            text = f"{name}: {failure}" if isinstance(failure, connecting) else name
            said = f"no answer: {text}" if passage.was_sent else f"not sent: {text}"
            raise NoReply(said, was_sent=passage.was_sent) from failure
    if passage.was_sent:
        raise NoReply(f"no whole answer within {passage.deadline.seconds:g} s", was_sent=True)
    raise NoReply(f"not sent within {passage.deadline.seconds:g} s", was_sent=False)
