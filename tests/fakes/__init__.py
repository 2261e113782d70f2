"""In-memory stand-ins for books and gateways; the books pass the same contract tests as the real adapters.

May import: `application` and `domain`.
"""
