"""The HTTP door: each context's routes in a file of its name, each calling one use case.

May import FastAPI, uvicorn, `application`, `domain` and the container; never the queue: what is accepted is committed,
whether or not a worker can be rung for.
"""
