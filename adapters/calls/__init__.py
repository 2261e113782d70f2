"""What every machine that we call has in common: one deadline per set of calls, what was sent, what came back.

May import domain and anyio; no room's technology.
"""
