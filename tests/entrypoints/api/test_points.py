"""A customer's points by HTTP."""

from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

from entrypoints.container import Container
from entrypoints.settings import OwnSettings
from tests.entrypoints.api.server import Api, event, problem

Apply = Callable[[], object]


@pytest.fixture
def apply(shared_database_url: str) -> Iterator[Apply]:
    """What a worker would do with the events accepted so far."""
    container = Container(settings=OwnSettings(database_url=shared_database_url))

    def all_due() -> None:
        while container.apply_order_events().execute():
            pass

    yield all_due
    container.engine().dispose()


def test_the_points_of_an_order_are_shown(api: Api, apply: Apply) -> None:
    """The same document as `ikkai points show` (contract section 5)."""
    order = event()
    api.post(order)
    apply()
    customer_id = order["data"]["customer_id"]
    answer = api.http.get(f"/v1/customers/{customer_id}/points")
    assert answer.status_code == 200
    assert answer.json() == {
        "customer_id": customer_id,
        "balance": 120,
        "debt": 0,
        "lots": [
            {
                "order_id": order["data"]["order_id"],
                "reason": "order_confirmed",
                "points": 120,
                "remaining": 120,
                "expires_on": "2027-10-31",
            }
        ],
    }


@pytest.mark.parametrize(
    "customer_id", ["a/b", "a/points", "100%", "a%2Fb", "山田 太郎", "🎉", "...", "x?y#z", "a+b", "a//b", "/"]
)
def test_an_id_is_any_text(api: Api, apply: Apply, customer_id: str) -> None:
    """Percent-encoded once, decoded once; a slash in an id is no end of it."""
    api.post(event(data={"customer_id": customer_id}))
    apply()
    answer = api.http.get(f"/v1/customers/{quote(customer_id, safe='')}/points")
    assert (answer.status_code, answer.json()["customer_id"]) == (200, customer_id)


def test_an_id_is_looked_up_in_its_normal_form(api: Api, apply: Apply) -> None:
    """é is one letter, however it was typed."""
    api.post(event(data={"customer_id": "Zoe\u0301"}))
    apply()
    assert api.http.get("/v1/customers/Zo%C3%A9/points").json()["customer_id"] == "Zoé"


def test_an_unknown_customer_is_404(api: Api) -> None:
    """Nobody is invented by being asked for."""
    assert problem(api.http.get("/v1/customers/nobody/points"), 404)["field"] == "customer_id"


@pytest.mark.parametrize("wrong", ["", "a%00", "%20a", "x" * 129])
def test_what_is_no_id_is_400(api: Api, wrong: str) -> None:
    """The field is named, and the database is not asked."""
    assert problem(api.http.get(f"/v1/customers/{wrong}/points"), 400)["field"] == "customer_id"
