"""How, by technology: one room each. May import `domain`, `application` and its own technology, never another room.

What several rooms need to speak with another machine is in `calls`.
"""
