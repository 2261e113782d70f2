"""Optimisations that live in Redis and decide nothing. May import redis, `domain` and `application`."""
