"""All routes together, as one application."""

from fastapi import FastAPI

from entrypoints.api import health, orders, payments, points
from entrypoints.api.gate import Gate
from entrypoints.api.keys import parse_api_keys
from entrypoints.api.problems import answer_with_problems
from entrypoints.api.threads import UseCaseThreads
from entrypoints.container import Container


def build_app(container: Container, *, threads: int, body_seconds: float) -> FastAPI:
    """The HTTP door of one process. Raises: InvalidSettings for API keys that cannot be read."""
    app = FastAPI(
        title="ikkai",
        summary="Order events in, each effect once.",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    answer_with_problems(app)
    app.add_middleware(Gate, keys=parse_api_keys(container.settings().api_keys.get_secret_value()))
    use_cases = UseCaseThreads(threads)
    app.include_router(health.routes(container.schema_is_current))
    app.include_router(orders.routes(container.accept_order_events(), use_cases, body_seconds=body_seconds))
    app.include_router(points.routes(container.read_points(), use_cases))
    signed = bool(container.settings().stripe_webhook_secret.get_secret_value())
    read_notice = container.read_notice if signed else None
    app.include_router(payments.routes(read_notice, container.take_notice(), use_cases, body_seconds=body_seconds))
    return app
