"""How, by technology: one room each. May import `domain`, `application` and its own technology, never another room.

Beside the rooms stands what several of them need to speak with another machine.
"""
