"""Import files as people make them, read byte by byte as they are.

May import: `adapters.files`, `domain` and the standard library.
"""
