"""Bodies that are too large, too slow, of another kind, or no document at all."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.entrypoints.api.server import BATCH, ONE, SECRET, Api, event, problem, running_api
from tests.entrypoints.sandbox.world import until

MEBIBYTE = 1024 * 1024
HEAD = (
    f"POST /v1/events HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {SECRET}\r\nContent-Type: {ONE}\r\n"
    "Content-Length: 1000\r\n\r\n{"
).encode()


@pytest.mark.parametrize("kind", [f"{ONE}; charset=utf-8", f'{ONE}; charset="UTF-8"', f"{ONE.upper()} ; x=y"])
def test_a_media_type_may_have_parameters(api: Api, kind: str) -> None:
    """Clients add a charset; JSON that travels is UTF-8 anyway."""
    assert api.post(event(), kind).status_code == 202


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "", "nonsense", f"{ONE}; charset=shift_jis"])
def test_other_media_types_are_415(api: Api, kind: str) -> None:
    """What we do not read we do not guess at; the answer says what we read."""
    answer = api.post(event(), kind)
    assert problem(answer, 415)["field"] == "Content-Type"
    assert answer.headers["Accept"] == f"{ONE}, {BATCH}"


def test_a_missing_media_type_is_415(api: Api) -> None:
    """No type at all is another type."""
    problem(api.http.post("/v1/events", content=json.dumps(event())), 415)


def test_a_packed_body_is_415(api: Api) -> None:
    """A few bytes may unpack to any number: compressed bodies are not read."""
    problem(api.post(event(), **{"Content-Encoding": "gzip"}), 415)


@pytest.mark.parametrize(
    ("body", "kind", "field"),
    [
        (b"", ONE, "body"),
        (b"{", ONE, "body"),
        (b"\xff\xfe{}", ONE, "body"),
        (b"[" * 100_000, ONE, "body"),
        (b"9" * 10_000, ONE, "body"),
        (b"[]", ONE, "body"),
        (b"null", ONE, "body"),
        (b'"event"', ONE, "body"),
        (b"{}", BATCH, "body"),
        (b"[]", BATCH, "body"),
        (b'{"total": NaN}', ONE, "NaN"),
        (b'{"id": "a\x00b"}', ONE, "body"),
        (b'{"data": {"total": 1, "total": 2}}', ONE, "total"),
        (b'[{"id": "e-1", "id": "e-2"}]', BATCH, "id"),
        (b'{"\\ud800": 1, "\\ud800": 2}', ONE, "?"),
    ],
)
def test_what_is_no_document_of_its_kind_is_400(api: Api, body: bytes, kind: str, field: str) -> None:
    """The whole request is refused, and the answer names what is wrong."""
    before = api.count()
    assert problem(api.post(body, kind), 400)["field"] == field
    assert api.count() == before


def test_a_body_announced_as_too_large_is_413(api: Api) -> None:
    """It is refused by its length."""
    assert problem(api.post(b" " * (32 * MEBIBYTE + 1)), 413)["field"] == "body"


def test_a_body_of_unknown_length_is_413_once_it_is_too_large(api: Api) -> None:
    """A chunked body is counted while it comes."""

    def endless() -> Iterator[bytes]:
        for _ in range(33):
            yield b" " * MEBIBYTE

    answer = api.http.post("/v1/events", content=endless(), headers={"Content-Type": ONE})
    assert answer.request.headers["Transfer-Encoding"] == "chunked"
    assert problem(answer, 413)["field"] == "body"


def test_a_body_of_the_allowed_size_is_read(api: Api) -> None:
    """White space counts, and does not hurt."""
    content = json.dumps(event()).encode()
    assert api.post(content + b" " * (32 * MEBIBYTE - len(content))).status_code == 202


def test_a_body_that_does_not_come_is_408(database_url: str, tmp_path: Path) -> None:
    """A sender that stands still does not hold its place for ever."""
    with running_api(database_url, tmp_path / "log", "--body-seconds", "0.3") as api, api.connection() as connection:
        connection.sendall(HEAD)
        answer = connection.recv(10_000)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"application/problem+json" in answer


def test_a_sender_that_goes_away_is_no_fault_of_ours(own_api: Api) -> None:
    """A connection that ends in the middle of a body stores nothing and leaves no traceback."""
    with own_api.connection() as connection:
        connection.sendall(HEAD)
    until(lambda: own_api.post(event()).status_code == 202)
    assert own_api.log == ""
