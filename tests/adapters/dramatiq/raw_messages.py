"""Messages as a producer with other tools would put them on the queue: any bytes at all."""

import json
import uuid
from typing import Any

import redis


def push(client: "redis.Redis", queue: str, body: bytes) -> None:
    """Lays a message where Dramatiq's own producer lays it."""
    message_id = str(uuid.uuid4())
    with client.pipeline() as together:
        together.hset(f"dramatiq:{queue}.msgs", message_id, body.replace(b"MESSAGE-ID", message_id.encode()))
        together.rpush(f"dramatiq:{queue}", message_id)
        together.execute()


def message(queue: str, actor: str, content: dict[str, Any], **other: Any) -> bytes:
    """A message that is well-formed but for what `other` says."""
    members = {
        "queue_name": queue,
        "actor_name": actor,
        "args": [],
        "kwargs": content,
        "options": {"redis_message_id": "MESSAGE-ID"},
        "message_id": str(uuid.uuid4()),
        "message_timestamp": 1_790_000_000_000,
    }
    return json.dumps(members | other).encode()
