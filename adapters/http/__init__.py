"""Machines of others, spoken to over HTTP. May import `application`, `domain`, `adapters.calls`, httpx and anyio; no other room."""
