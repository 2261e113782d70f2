"""What comes in is understood exactly, or refused by the name of the field (B38 and the intake rules)."""

from typing import Any

import pytest

from domain.errors import Malformed
from domain.orders.events import EventType, read_event
from domain.strict_json import read_json
from tests.domain.orders.samples import NOW, SHIP_TO, envelope


def test_a_confirmed_order_is_read_whole() -> None:
    """Every field we know, normalised; others are not kept."""
    event = read_event(envelope(order_id=11497, revision=2, note="ignored"), now=NOW)
    assert (event.source, event.id, event.type, event.subject, event.revision) == (
        "shop", "e-1", EventType.ORDER_CONFIRMED, "11497", 2,
    )  # fmt: skip
    assert event.data["ship_to"] == {"name": "山田 太郎", "country": "JP", "postal_code": "100-0001"}
    assert "note" not in event.data
    assert "revision" not in event.data


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("order_id", {"order_id": ""}),
        ("order_id", {"order_id": 1.5}),
        ("order_id", {"order_id": "A\x00"}),
        ("order_id", {"order_id": "x" * 129}),
        ("customer_id", {"customer_id": None}),
        ("currency", {"currency": "YEN"}),
        ("total", {"total": 12000.0}),
        ("total", {"total": "12000"}),
        ("total", {"total": -1}),
        ("total", {"total": 2**63}),
        ("points", {"points": 1.5}),
        ("points", {"points": None}),
        ("points", {"points": True}),
        ("points", {"points": -5}),
        ("points", {"points": 2**63}),
        ("revision", {"revision": 0}),
        ("revision", {"revision": "1"}),
        ("revision", {"revision": 2**63}),
        ("ship_to", {"ship_to": "Tokyo"}),
        ("ship_to.name", {"ship_to": {**SHIP_TO, "name": "a\x00b"}}),
        ("ship_to.name", {"ship_to": {**SHIP_TO, "name": "\ud800"}}),
        ("ship_to.name", {"ship_to": {"country": "JP"}}),
        ("ship_to.country", {"ship_to": {"name": "a", "country": ""}}),
        ("ship_to.line1", {"ship_to": {**SHIP_TO, "line1": 1}}),
        ("ship_to.line1", {"ship_to": {**SHIP_TO, "line1": "x" * 501}}),
        ("ship_to", {"ship_to": {"\ud800": "x"}}),
    ],
)
def test_a_wrong_field_is_named(field: str, change: dict[str, Any]) -> None:
    """The sender learns what to mend; nothing is stored."""
    with pytest.raises(Malformed) as refusal:
        read_event(envelope(**change), now=NOW)
    assert refusal.value.field == field


@pytest.mark.parametrize("field", ["specversion", "source", "id", "type", "time", "data"])
def test_each_part_of_the_envelope_is_required(field: str) -> None:
    """A missing one is named, and so is one of the wrong kind."""
    whole = envelope()
    with pytest.raises(Malformed, match=field):
        read_event({name: value for name, value in whole.items() if name != field}, now=NOW)
    with pytest.raises(Malformed, match=field):
        read_event({**whole, field: []}, now=NOW)


@pytest.mark.parametrize("body", [[], "x", 1, None, True])
def test_an_event_is_an_object(body: object) -> None:
    """Whatever else arrives is refused as a whole."""
    with pytest.raises(Malformed, match="event"):
        read_event(body, now=NOW)


@pytest.mark.parametrize("type_", ["payment.settled", "order.shipped", "Order.Confirmed", "", 1])
def test_an_unknown_type_is_refused_with_the_known_ones(type_: Any) -> None:
    """So that a typo does not vanish."""
    with pytest.raises(Malformed, match=r"order\.confirmed"):
        read_event(envelope() | {"type": type_}, now=NOW)


def test_a_time_may_lie_a_day_ahead_and_no_more() -> None:
    """Clocks of producers differ (B34)."""
    read_event(envelope(time="2026-10-05T00:00:00Z"), now=NOW)
    with pytest.raises(Malformed, match="time"):
        read_event(envelope(time="2026-10-05T00:00:01Z"), now=NOW)


@pytest.mark.parametrize("type_", ["order.cancelled", "order.refunded", "customer.updated"])
def test_every_type_checks_its_own_fields(type_: str) -> None:
    """An order's events need its id, a refund its amount, a customer's their id."""
    needed = {"order.cancelled": "order_id", "order.refunded": "amount", "customer.updated": "customer_id"}[type_]
    whole = {"order_id": "o-1", "customer_id": "c-1", "refund_id": "r-1", "amount": 100, "currency": "JPY"}
    read_event(envelope() | {"type": type_, "data": whole}, now=NOW)
    with pytest.raises(Malformed, match=needed):
        read_event(envelope() | {"type": type_, "data": {k: v for k, v in whole.items() if k != needed}}, now=NOW)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "no at"),
        ("email", 1),
        ("email", "a@b\n"),
        ("locale", "fr"),
        ("name", ""),
        ("name", "a\x00"),
        ("name", "x" * 501),
    ],
)
def test_what_is_told_of_a_customer_is_checked(field: str, value: object) -> None:
    """Each field by its own rule."""
    with pytest.raises(Malformed, match=field):
        read_event(envelope() | {"type": "customer.updated", "data": {"customer_id": "c", field: value}}, now=NOW)


def test_names_of_any_script_pass() -> None:
    """Rare kanji, circled digits and emoji with joiners arrive as they were sent."""
    for name in ("山田 太郎 🎉", "髙①～", "👨‍👩‍👧", "<script>alert(1)</script>"):
        assert read_event(envelope(ship_to={**SHIP_TO, "name": name}), now=NOW).data["ship_to"]["name"] == name


def test_content_is_what_is_said_not_how() -> None:
    """Revision, order of members and unknown fields make no other content; a changed amount does (B22)."""
    first = read_event(envelope(), now=NOW)
    assert read_event(envelope(revision=7, extra=1), now=NOW).content == first.content
    assert read_event(envelope(ship_to=None), now=NOW).content != first.content
    assert read_event(envelope(total=12001), now=NOW).content != first.content
    assert read_event(envelope(revision=7), now=NOW).fingerprint != first.fingerprint


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"points":100,"points":-100}', "points"),
        ('{"a":NaN}', "NaN"),
        ('{"a":-Infinity}', "Infinity"),
        ("{", "body"),
        ("", "body"),
        ("[" * 100_000, "body"),
        ('{"a":' + "9" * 5000 + "}", "body"),
        (b'{"a":"\xff"}', "body"),
        ("{'a':1}", "body"),
    ],
)
def test_json_is_read_without_guessing(text: str | bytes, field: str) -> None:
    """What JSON leaves open is refused (B09)."""
    with pytest.raises(Malformed, match=field):
        read_json(text)
