"""The payment provider. May import `application`, `domain`, stripe, aiohttp and anyio, no other adapter."""
