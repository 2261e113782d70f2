"""One suite per port, run over the fake and over the real adapter alike; races in threads and processes.

May import: `adapters.postgres`, `application`, `domain` and `tests.fakes`.
"""
