"""`/healthz` and `/readyz`: for whoever starts processes and sends them traffic."""

from collections.abc import Callable

from fastapi import APIRouter

from domain.errors import Unavailable
from entrypoints.api.problems import unavailable
from entrypoints.api.threads import UseCaseThreads


def routes(schema_is_current: Callable[[], bool]) -> APIRouter:
    """Open to all (see `gate`)."""
    router = APIRouter(tags=["health"])
    # A thread of its own: readiness must be told also while every other thread waits for a database that is gone.
    threads = UseCaseThreads(1)

    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        """This process lives."""
        return {"status": "ok"}

    @router.get("/readyz")
    async def readyz() -> dict[str, str]:
        """The database answers, and its schema is the one that this program needs."""
        try:
            current = await threads.run(schema_is_current)
        except Unavailable:
            raise unavailable("the database cannot be reached") from None
        if not current:
            raise unavailable("the database's schema is not the one this program needs: ikkai migrate")
        return {"status": "ready"}

    return router
