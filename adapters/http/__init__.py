"""Machines of others over HTTP. May import `application`, `domain`, `adapters.calls`, httpx, anyio; no other room."""
