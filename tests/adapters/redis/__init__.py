"""What Redis spares the queue, against a real Redis.

May import: `adapters.redis`, redis.
"""
