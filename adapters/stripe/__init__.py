"""The payment provider. May import `application`, `domain`, `adapters.calls`, stripe, aiohttp, anyio; no other room."""
