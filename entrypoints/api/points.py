"""`/v1/customers/{customer_id}/points`: what a customer has."""

from http import HTTPStatus

from fastapi import APIRouter

from application.points import ReadPoints
from domain.errors import Malformed, Refused
from entrypoints.api.gate import needs
from entrypoints.api.keys import Scope
from entrypoints.api.problems import Problem, documented
from entrypoints.api.threads import UseCaseThreads
from entrypoints.documents import PointsDocument, points_document


def routes(points: ReadPoints, threads: UseCaseThreads) -> APIRouter:
    """Reading points."""
    router = APIRouter(tags=["points"])

    # An id may contain a slash, written %2F: only a path converter takes it.
    @router.get(
        "/v1/customers/{customer_id:path}/points",
        dependencies=needs(Scope.POINTS),
        responses=documented(HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
    )
    async def show_points(customer_id: str) -> PointsDocument:
        """Balance, debt and open lots, the first to be spent first."""
        try:
            return points_document(await threads.run(lambda: points.account(customer_id)))
        except Malformed as wrong:
            raise Problem(HTTPStatus.BAD_REQUEST, wrong.reason, field=wrong.field) from None
        except Refused as unknown:
            raise Problem(HTTPStatus.NOT_FOUND, unknown.reason, field=unknown.field) from None

    return router
