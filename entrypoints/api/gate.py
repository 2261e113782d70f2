"""Authorization: who calls is found out before anything else, what they may do is said by each route."""

from http import HTTPStatus
from typing import Any, Final

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from entrypoints.api.keys import ApiKey, ApiKeys, Scope
from entrypoints.api.problems import Problem

# The provider knows no key of ours: what it tells is signed.
OPEN_PATHS: Final = frozenset({"/healthz", "/readyz", "/webhooks/stripe"})

# Only for the OpenAPI document: the gate has looked at the header long before.
_documented_scheme: Final = HTTPBearer(auto_error=False, description="A secret of IKKAI_API_KEYS.")


class Gate:
    """Lets nobody in without a key; what is open to all is named here and nowhere else."""

    def __init__(self, app: ASGIApp, keys: ApiKeys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        scheme, _, secret = Headers(scope=scope).get("authorization", "").partition(" ")
        caller = self._keys.owner(secret.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            await _unknown(given=bool(scheme)).response()(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, send)


def needs(scope: Scope) -> list[Any]:
    """Dependencies of a route that only keys with `scope` open."""

    async def check(request: Request) -> None:
        caller: ApiKey = request.state.caller
        if scope not in caller.scopes:
            challenge = f'Bearer realm="ikkai", error="insufficient_scope", scope="{scope}"'
            detail = f"the key {caller.name} lacks the scope {scope}"
            raise Problem(HTTPStatus.FORBIDDEN, detail, headers={"WWW-Authenticate": challenge})

    return [Depends(check), Depends(_documented_scheme)]


def _unknown(*, given: bool) -> Problem:
    challenge = 'Bearer realm="ikkai"' + (', error="invalid_token"' if given else "")
    detail = "this key is not known" if given else "an Authorization header with a Bearer key is needed"
    return Problem(HTTPStatus.UNAUTHORIZED, detail, headers={"WWW-Authenticate": challenge})
