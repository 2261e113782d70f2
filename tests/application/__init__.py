"""Use cases over fakes: what the shop promises, without a server in sight.

May import: `application`, `domain`, `tests.fakes` and the ledger's identities of `tests.contracts`.
"""
