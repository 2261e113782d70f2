"""The outside world for development, demo and tests, with a ledger of what really happened.

May import aiohttp and typer, and `domain` if needed; nothing else of ours, since it must not share our mistakes.
"""
