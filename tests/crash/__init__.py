"""Workers that end or stop at an exact point of their work, and what is left of it.

May import everything of ours; `worker` is the only place that reaches into a running program.
"""
