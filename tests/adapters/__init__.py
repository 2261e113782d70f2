"""Each adapter against the real technology it speaks to.

May import: `adapters`, `application`, `domain` and the technology.
"""
