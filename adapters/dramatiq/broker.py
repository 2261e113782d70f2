"""The Redis broker, with the ways closed in which it loses or withholds messages."""

import logging
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.common import compute_backoff, q_name
from dramatiq.errors import ConnectionClosed, DecodeError
from dramatiq.middleware import TimeLimit
from redis.backoff import NoBackoff
from redis.retry import Retry

from adapters.dramatiq.failures import SortFailures
from adapters.dramatiq.messages import StrictEncoder
from domain.errors import Unavailable

logger = logging.getLogger(__name__)

KeepDeadLetter = Callable[[str, bytes, str], None]

REDIS_SCHEMES: Final = ("redis", "rediss", "unix")
# How often in a million commands a worker looks for messages of dead ones. The default (1,000) leaves a quiet
# queue waiting for many minutes.
MAINTENANCE_CHANCE: Final = 20_000
# An alarm for hung threads, far above every deadline of ours; it cannot interrupt a blocking call.
TIME_LIMIT_MILLISECONDS: Final = 300_000
PUT_BACK_PAUSE_SECONDS: Final = 1.0


def open_client(url: str) -> redis.Redis:
    """A client that never repeats a command by itself.

    A repeated fetch would hide messages, a repeated enqueue double one.
    """
    if urlsplit(url).scheme not in REDIS_SCHEMES:
        raise ValueError(f"a broker URL begins with one of {', '.join(f'{scheme}://' for scheme in REDIS_SCHEMES)}")
    return redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), socket_timeout=10, socket_connect_timeout=5)


def open_broker(client: redis.Redis, keep_dead_letter: KeepDeadLetter, *, heartbeat_seconds: float) -> RedisBroker:
    """The broker of this process. A worker unheard of for `heartbeat_seconds` counts as dead."""
    dramatiq.set_encoder(StrictEncoder())
    broker = SafeRedisBroker(
        client=client,
        middleware=[SortFailures(), TimeLimit(time_limit=TIME_LIMIT_MILLISECONDS)],
        maintenance_chance=MAINTENANCE_CHANCE,
        heartbeat_timeout=int(heartbeat_seconds * 1000),
    )
    broker.keep_dead_letter = keep_dead_letter
    return broker


class SafeRedisBroker(RedisBroker):
    """RedisBroker with consumers that put back, keep or report what they cannot finish."""

    keep_dead_letter: KeepDeadLetter

    @property
    def consumer_class(self) -> type[_RedisConsumer]:
        return _SafeConsumer

    def enqueue(self, message: dramatiq.Message[Any], *, delay: int | None = None) -> dramatiq.Message[Any]:
        try:
            return super().enqueue(message, delay=delay)
        except redis.RedisError:
            self.change_name()  # the consumer whose delayed message this is will not touch it again
            raise

    def change_name(self) -> None:
        """Goes on under a new name: what was taken and is in nobody's hands goes back with the old name's heartbeat."""
        self.broker_id = str(uuid4())


class _SafeConsumer(_RedisConsumer):
    broker: SafeRedisBroker

    def ack(self, message: Any) -> None:
        with _connection_errors():
            if getattr(message, "put_back", False):
                self._put_back(message)
            else:
                super().ack(message)

    def nack(self, message: Any) -> None:
        why = getattr(message, "why", None) or str(message._exception or "failed")
        try:
            self.broker.keep_dead_letter(self.queue_name, message.encode(), why)
        except Exception:
            logger.exception("a dead letter could not be kept; its message goes back")
            # In Dramatiq's own dead letters, which it deletes after a week, nobody of ours would see it.
            self._put_back(message)
        else:
            with _connection_errors():
                super().nack(message)

    def _put_back(self, message: Any) -> None:
        time.sleep(PUT_BACK_PAUSE_SECONDS)  # this thread has nothing better to do while the database is away
        self.queued_message_ids.discard(message.message_id)
        self.requeue([message])

    def requeue(self, messages: Any) -> None:
        try:
            with _connection_errors():
                super().requeue(messages)
        except ConnectionClosed:
            self.broker.change_name()
            raise

    def __next__(self) -> Any:
        if not self.message_cache:
            self._fetch()
        while self.message_cache:
            body = self.message_cache.pop(0)
            message = None if body is None else self._read(body)
            if message is not None:
                self.queued_message_ids.add(message.message_id)
                return dramatiq.MessageProxy(message)
        return None

    def _fetch(self) -> None:
        """Takes as many messages as may be under way here; finding none, waits longer and longer up to the time-out."""
        wanted = self.prefetch - self.outstanding_message_count
        try:
            with _connection_errors():
                self.message_cache = self.broker.do_fetch(self.queue_name, wanted) if wanted > 0 else []
        except ConnectionClosed:
            self.broker.change_name()
            raise
        if self.message_cache:
            self.misses = 0
        else:
            self.misses, backoff_milliseconds = compute_backoff(self.misses, max_backoff=self.timeout)
            time.sleep(backoff_milliseconds / 1000)

    def _read(self, body: bytes) -> dramatiq.Message[Any] | None:
        try:
            message: dramatiq.Message[Any] = dramatiq.Message.decode(body)
            if message.queue_name != self.queue_name:
                wrong = ValueError(f"it names the queue {message.queue_name!r}")
                raise DecodeError("wrong queue", body, wrong)
        except DecodeError as unreadable:
            self._set_apart(body, f"unreadable: {unreadable.error}")
            return None
        if self.queue_name == q_name(self.queue_name):
            # Delays end before a message comes here; waiting for this one, it would hold the place of another.
            message.options.pop("eta", None)
        return message

    def _set_apart(self, body: bytes, reason: str) -> None:
        logger.error("a message on queue %s is %s", self.queue_name, reason)
        try:
            self.broker.keep_dead_letter(self.queue_name, body, reason)
        except Unavailable:
            return  # it stays taken, and comes again when this worker has ended
        name = f"{self.broker.namespace}:{self.queue_name}.msgs"
        taken = f"{self.broker.namespace}:__acks__.{self.broker.broker_id}.{self.queue_name}"
        with _connection_errors():
            # Its id in Redis stands inside the body that cannot be read: find it among those we have taken.
            for message_id in self.broker.client.smembers(taken):
                if self.broker.client.hget(name, message_id) == body:
                    self.broker.do_ack(self.queue_name, message_id)


class _connection_errors:  # noqa: N801
    """Every error of Redis (a time-out and "out of memory" too) restarts the consumer in an orderly way."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, redis.RedisError):
            raise ConnectionClosed(error) from error
