"""Keys name facts: distinct facts never share one, and every provider can carry them (B36)."""

import hashlib
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import keys
from domain.errors import Malformed

PARTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300)
KINDS = st.sampled_from(["billing", "email", "refund", "shipment-request"])


@given(KINDS, st.lists(PARTS, min_size=1, max_size=4))
def test_a_key_is_safe_as_a_header_value(kind: str, parts: list[str]) -> None:
    """ASCII, printable, at most 255 characters, whatever the ids hold."""
    key = keys.key(kind, *parts)
    assert len(key) <= 255
    assert set(key) <= set(string.ascii_letters + string.digits + "._-%:~")


@given(KINDS, st.lists(PARTS, min_size=1, max_size=4), KINDS, st.lists(PARTS, min_size=1, max_size=4))
def test_distinct_facts_have_distinct_keys(kind: str, parts: list[str], other_kind: str, others: list[str]) -> None:
    """Two keys are equal only if everything in them is."""
    same = (kind, parts) == (other_kind, others)
    assert (keys.key(kind, *parts) == keys.key(other_kind, *others)) is same


@given(st.text(alphabet=":%~#A1", min_size=1, max_size=12), st.text(alphabet=":%~#A1", min_size=1, max_size=12))
def test_separators_inside_an_id_do_not_shift_its_parts(left: str, right: str) -> None:
    """`a:b` + `c` is not `a` + `b:c`."""
    assert keys.key("k", left, right).count(":") == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (keys.mail_key("reset", "1", "23:4"), keys.mail_key("reset", "1:23", "4")),
        (keys.billing_key("1:2", "2026-10"), keys.billing_key("1", "2026-10", 2)),
        (keys.key("billing", "1", "23"), keys.key("billing", "12", "3")),
        (keys.shipment_request_key("x" * 128 + "a"), keys.shipment_request_key("x" * 128 + "b")),
        (keys.shipment_request_key("髙" * 300 + "a"), keys.shipment_request_key("髙" * 300 + "b")),
        (keys.shipment_request_key("o-1", 2), keys.shipment_request_key("o-1:2")),
        (keys.shipment_request_key("o-1"), keys.shipment_cancel_key("o-1")),
        (keys.shipment_request_key("o-1"), keys.label_key("o-1")),
        (keys.refund_key("A"), keys.refund_key("a")),
    ],
)
def test_the_reported_collisions_do_not_happen(one: str, other: str) -> None:
    """The pairs of field report B36, and their kin."""
    assert one != other


def test_keys_are_written_as_the_contract_says() -> None:
    """What people type and providers store."""
    assert keys.shipment_request_key("o-1001") == "shipment-request:o-1001"
    assert keys.shipment_request_key("o-1001", 2) == "shipment-request:o-1001:2"
    assert keys.billing_key("c-1", "2026-10") == "billing:c-1:2026-10"
    assert keys.billing_key("c-1", "2026-10", 3) == "billing:c-1:2026-10:3"
    assert keys.mail_key("password_reset", "c-1", "tok-9") == "email:password_reset:c-1:tok-9"
    assert keys.shipment_request_key("A/1 é") == "shipment-request:A%2F1%20%C3%A9"
    assert keys.grant_reason() == "order_confirmed"
    assert keys.grant_reason(3) == "order_confirmed#3"


def test_a_long_key_keeps_its_head_and_ends_in_a_hash() -> None:
    """The first 190 characters, `~`, SHA-256 of the whole in hex."""
    whole = "shipment-request:" + "x" * 300
    assert keys.shipment_request_key("x" * 300) == whole[:190] + "~" + hashlib.sha256(whole.encode()).hexdigest()
    assert len(keys.key("k", "x" * 253)) == 255
    assert keys.key("k", "x" * 253) == "k:" + "x" * 253


@pytest.mark.parametrize("number", [0, -1])
def test_parcels_are_counted_from_one(number: int) -> None:
    """A number below one names no fact."""
    with pytest.raises(Malformed, match="number"):
        keys.shipment_request_key("o-1", number)


@given(st.integers(min_value=0, max_value=10**128 - 1))
def test_a_whole_number_counts_as_its_digits(number: int) -> None:
    """11497 and "11497" are one order, to the last digit."""
    assert keys.identifier("order_id", number) == keys.identifier("order_id", str(number))


@pytest.mark.parametrize(
    "value",
    ["", " ", " a", "a ", "a\x00", "a\nb", "\ud800", "x" * 129, 1.0, True, False, None, [], {}, -1, 10**128, "\u3000a"],
)
def test_what_is_no_identifier_is_refused_by_name(value: object) -> None:
    """Nothing is cut, guessed or rounded."""
    with pytest.raises(Malformed, match="order_id"):
        keys.identifier("order_id", value)


@pytest.mark.parametrize("value", ["A:cancel", "<b>1", "表 ソ", "🎉", "髙①～", "a" * 128, "../x", "%2F"])
def test_any_printable_text_is_an_identifier(value: str) -> None:
    """Shops have ids of every kind."""
    assert keys.identifier("order_id", value) == value


def test_identifiers_are_compared_in_one_unicode_form() -> None:
    """An accent typed in two ways is the same customer; upper and lower case are not."""
    assert keys.identifier("c", "e\u0301") == keys.identifier("c", "\u00e9")
    assert keys.identifier("c", "A") != keys.identifier("c", "a")
