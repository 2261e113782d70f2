"""Whole installations: real servers, a real outside world, real processes, and their commands as people type them.

May import everything of ours; what happened is read from the sandbox's ledger and from our tables.
"""
