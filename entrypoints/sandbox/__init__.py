"""The outside world for development, demo and tests, with a ledger of what really happened.

May import aiohttp and typer; nothing of ours, since it must not share our mistakes.
"""
