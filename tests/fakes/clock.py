"""Time that passes when a test says so."""

from datetime import UTC, datetime, timedelta

# An ordinary Saturday in Tokyo, 12:34:56; any instant will do.
START = datetime(2026, 10, 3, 3, 34, 56, tzinfo=UTC)


class FakeClock:
    """`Clock` that stands still until it is moved; the in-memory books read it as Postgres reads its own."""

    def __init__(self, now: datetime = START) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def set(self, now: datetime) -> None:
        self._now = now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
