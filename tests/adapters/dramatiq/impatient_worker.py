"""A worker that gives up on an absent database soon: `python -m tests.adapters.dramatiq.impatient_worker`."""

import typer

from adapters.postgres import transactions
from entrypoints import worker

if __name__ == "__main__":
    transactions.PATIENCE_SECONDS = 0.5  # type: ignore[misc]  # instead of 15
    typer.run(worker.main)
