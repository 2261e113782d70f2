"""Signs of life in memory."""

from datetime import datetime, timedelta

from application.transactions import Clock
from application.workers import Role


class InMemoryWorkerBook:
    """`WorkerBook` over a dictionary."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[Role, datetime]] = {}

    def seen(self, name: str, role: Role) -> None:
        known, _ = self._seen.get(name, (role, None))
        self._seen[name] = (known, self._clock.now())

    def forget(self, name: str) -> None:
        self._seen.pop(name, None)

    def are_alive(self, within_seconds: float) -> bool:
        within, now = timedelta(seconds=within_seconds), self._clock.now()
        return {role for role, at in self._seen.values() if abs(now - at) < within} == set(Role)
