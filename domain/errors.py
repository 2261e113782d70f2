"""The few ways in which work can end without being done; adapters sort every failure into one of them."""


class Refused(Exception):
    """A rule said no. Never retried; the message says what to do instead."""

    def __init__(self, reason: str, *, field: str | None = None) -> None:
        super().__init__(reason if field is None else f"{field}: {reason}")
        self.reason = reason
        self.field = field


class Malformed(Refused):
    """The input cannot be understood; `field` names the part that is wrong. Nothing of it was stored."""

    field: str

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason, field=field)


class Conflict(Refused):
    """The same fact is already known with other content; the first one stays."""


class Unavailable(Exception):
    """No answer, and surely nothing happened: try the same again later."""


class LostRace(Exception):
    """Another transaction stored the same fact first: the whole unit starts again and reads it."""
