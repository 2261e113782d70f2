"""The queue that says when: Dramatiq over Redis. May import dramatiq, redis, `domain` and `application`."""
