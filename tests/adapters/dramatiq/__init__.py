"""The queue as real worker processes see it: copies, broken messages, lost replies, a database that is away.

May import everything of ours.
"""
