"""The HTTP adapters against real sockets, and against the sandbox as a process of its own.

May import: `adapters.http`, `application`, `domain`, httpx.
"""
