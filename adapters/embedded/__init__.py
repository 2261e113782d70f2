"""PostgreSQL and Redis without installing either: run from wheels, on demand, inside `IKKAI_HOME`.

This is the door. May import: the standard library, psutil, psycopg and redis, nothing of ours.
"""

from adapters.embedded.errors import EmbeddedServersUnavailable
from adapters.embedded.servers import EmbeddedServers, ServerUrls

__all__ = ["EmbeddedServers", "EmbeddedServersUnavailable", "ServerUrls"]
