"""Messages as they may come from any producer: read strictly, kept when they cannot be taken."""

from typing import Any

from dramatiq.encoder import JSONEncoder, MessageData

from domain.strict_json import read_json


class StrictEncoder(JSONEncoder):
    """Dramatiq's JSON, without what JSON leaves open: an amount that stands twice must not be guessed at."""

    def decode(self, data: bytes) -> MessageData:
        message = read_json(data)
        if not isinstance(message, dict):
            raise TypeError("a message is an object")
        _expect(message, "queue_name", str)
        _expect(message, "actor_name", str)
        _expect(message, "args", list)
        _expect(message, "kwargs", dict)
        _expect(message, "message_id", str)
        _expect(message, "options", dict)
        _expect(message["options"], "redis_message_id", str)
        return message


def _expect(members: dict[str, Any], field: str, kind: type) -> None:
    if not isinstance(members.get(field), kind):
        raise TypeError(f"{field} must be a {kind.__name__}")
