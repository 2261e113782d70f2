"""How IKKAI_API_KEYS is read."""

import pytest

from entrypoints.api.keys import Scope, parse_api_keys
from entrypoints.settings import InvalidSettings


def test_each_entry_is_a_caller_with_scopes() -> None:
    """A secret leads to its owner and what the owner may do."""
    keys = parse_api_keys("shop=events+points:one, desk=operators:t:w=o\n")
    shop, desk = keys.owner("one"), keys.owner("t:w=o")
    assert shop is not None
    assert desk is not None
    assert (shop.name, sorted(shop.scopes)) == ("shop", [Scope.EVENTS, Scope.POINTS])
    assert (desk.name, sorted(desk.scopes)) == ("desk", [Scope.OPERATORS])


@pytest.mark.parametrize("text", ["", "  "])
def test_no_text_is_no_caller(text: str) -> None:
    """Not even the empty secret opens a door without keys."""
    assert parse_api_keys(text).owner("") is None


def test_a_secret_cannot_be_seen_in_its_key() -> None:
    """What is logged by mistake betrays nothing."""
    assert "top-secret" not in repr(parse_api_keys("shop=events:top-secret").owner("top-secret"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("top-secret", "entry 1: must look like"),
        ("shop=events:x,top-secret", "entry 2: must look like"),
        ("shop=events:x,", "entry 2: must look like"),
        ("=events:top-secret", "entry 1: must look like"),
        ("events:top-secret=", "entry 1: must look like"),
        ("shop=top-secret", "shop: has no secret"),
        ("shop=events:", "shop: has no secret"),
        ("shop=:top-secret", "shop: may have only the scopes events, points, refunds, operators"),
        ("shop=top-secret:events", "shop: may have only the scopes"),
        ("shop=events points:top-secret", "shop: may have only the scopes"),
        ("shop=events:top-secret kept", "shop: has a secret with white space"),
        ("shop=events:top-secretと", "shop: has a secret with white space or letters outside ASCII"),
        ("shop=events:top-secret,shop=points:y", "shop: this name stands twice"),
        ("shop=events:top-secret,desk=points:top-secret", "desk: has the same secret as shop"),
    ],
)
def test_what_cannot_be_read_is_named_without_its_secret(text: str, named: str) -> None:
    """The operator learns which entry of which variable to mend, and the log learns no secret."""
    with pytest.raises(InvalidSettings) as refused:
        parse_api_keys(text)
    assert str(refused.value).startswith(f"IKKAI_API_KEYS: {named}")
    assert "top-secret" not in str(refused.value)
