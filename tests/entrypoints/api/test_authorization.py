"""Who may call, and what."""

import json
from pathlib import Path

import httpx
import pytest

from tests.entrypoints.api.server import ONE, READER, SECRET, Api, authorised, event, problem, running_api


def anonymous(api: Api, method: str, path: str, **headers: str) -> httpx.Response:
    return httpx.request(method, api.url + path, headers=headers, timeout=60, verify=False)


@pytest.mark.parametrize(
    "credentials",
    [
        "",
        "Bearer",
        "Bearer wrong",
        f"Bearer {SECRET}x",
        f"Bearer {SECRET[:-1]}",
        f"Bearer shop:{SECRET}",
        f"Basic {SECRET}",
        SECRET,
        "Bearer é",
    ],
)
def test_without_a_known_key_nothing_is_stored(api: Api, credentials: str) -> None:
    """401, with the scheme that is wanted."""
    before = api.count()
    headers = [(b"Content-Type", ONE.encode()), (b"Authorization", credentials.encode())]
    answer = api.http.post("/v1/events", content=json.dumps(event()), headers=headers)
    problem(answer, 401)
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    assert api.count() == before


def test_the_scheme_is_written_as_one_likes(api: Api) -> None:
    """RFC 9110: the name of a scheme has no case."""
    assert api.post(event(), Authorization=f"bearer {SECRET}").status_code == 202


@pytest.mark.parametrize("path", ["/openapi.json", "/v1/customers/c-1/points", "/nowhere", "/healthz/", "/"])
def test_everything_but_health_needs_a_key(api: Api, path: str) -> None:
    """Also what does not exist: strangers learn nothing."""
    problem(anonymous(api, "GET", path), 401)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_needs_no_key(api: Api, path: str) -> None:
    """Whoever restarts processes has none."""
    assert anonymous(api, "GET", path).status_code == 200


def test_a_key_without_the_scope_is_403(api: Api) -> None:
    """A known caller that may do other things is told what it lacks."""
    before = api.count()
    answer = api.post(event(), **authorised(READER))
    assert "events" in problem(answer, 403)["detail"]
    assert 'error="insufficient_scope", scope="events"' in answer.headers["WWW-Authenticate"]
    assert api.count() == before


def test_a_stranger_is_refused_before_its_body_is_looked_at(api: Api) -> None:
    """Neither type nor size of a stranger's body is judged."""
    problem(api.post(b"\x00", "text/plain", Authorization="Bearer wrong"), 401)


def test_without_keys_nobody_may_call(database_url: str, tmp_path: Path) -> None:
    """An installation that was given no keys has a closed door, and is healthy."""
    with running_api(database_url, tmp_path / "log", api_keys="") as api:
        problem(api.post(event()), 401)
        problem(api.post(event(), Authorization="Bearer"), 401)
        assert anonymous(api, "GET", "/healthz").status_code == 200
