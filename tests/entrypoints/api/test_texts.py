"""Texts of any kind: stored as they came, or refused at the door (field report B38)."""

import json
from typing import Any

import pytest

from tests.entrypoints.api.server import Api, event, problem

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


def named(name: str) -> dict[str, Any]:
    one = event(type="customer.registered")
    return {**one, "data": {"customer_id": one["data"]["customer_id"], "name": name}}


@pytest.mark.parametrize(
    ("one", "field"),
    [
        (named("a\u0000b"), "name"),
        (named("\ud800"), "name"),
        (event(data={"order_id": "A\u0000"}), "order_id"),
        (event(id="\udfff"), "id"),
        (event(data={"ship_to": {"name": "a", "country": "JP", "\ud800": "x"}}), "ship_to"),
    ],
)
def test_nul_and_lone_surrogates_are_refused_at_the_door(api: Api, one: dict[str, Any], field: str) -> None:
    """What Postgres could not store is 422 with its field, not a fault that is retried for days."""
    before = api.count()
    assert problem(api.post(one), 422)["field"] == field
    assert problem(api.batch(one), 422)["rejected"][0]["field"] == field
    assert api.count() == before


@pytest.mark.parametrize("escaped", [False, True], ids=["as UTF-8", "as escapes"])
@pytest.mark.parametrize("name", ["山田 太郎 🎉", "髙橋①", FAMILY, "Zoë", "e\u0301"])
def test_names_come_through_intact(api: Api, name: str, escaped: bool) -> None:
    """Kanji, emoji and what joins them are stored as they came."""
    customer = named(name)
    assert api.post(json.dumps(customer, ensure_ascii=escaped).encode()).status_code == 202
    assert json.loads(api.stored(customer)[0].data)["name"] == name


def test_an_address_comes_through_intact(api: Api) -> None:
    """The carrier will get what the shop sent."""
    address = {"name": FAMILY, "country": "JP", "city": "千代田区", "line1": "髙田①-1"}
    order = event(data={"ship_to": {**address, "line2": None}})
    assert api.post(order).status_code == 202
    assert json.loads(api.stored(order)[0].data)["ship_to"] == address
