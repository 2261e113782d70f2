"""Stripe's adapter against real sockets, the sandbox and localstripe, each of these as a process of its own.

May import: `adapters.stripe`, `domain`, httpx, stripe, and the scripted server of the HTTP adapters' tests.
"""
