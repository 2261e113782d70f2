"""The one deadline by which a set of calls to another machine ends."""

import time
from dataclasses import dataclass
from typing import Final

# What is sent with less of its deadline left would seldom be answered in time, and unknown is worse than not sent.
LEAST_SHARE_TO_SEND: Final = 0.1


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of everything that is said in one set of calls, waiting for one's turn included. Units: seconds."""

    seconds: float
    began: float

    def left_seconds(self) -> float:
        return self.began + self.seconds - time.monotonic()

    def left_to_send_seconds(self) -> float:
        return self.left_seconds() - self.seconds * LEAST_SHARE_TO_SEND
