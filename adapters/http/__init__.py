"""Machines of others, spoken to over HTTP. May import `application`, `domain`, httpx and anyio, no other adapter."""
