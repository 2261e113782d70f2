"""The payment provider. May import `application`, `domain`, `adapters.calls`, stripe, aiohttp and anyio; no other room."""
