"""What we do, one transaction at a time: use cases and ports, naming no technology.

May import `domain` and the standard library.
"""
