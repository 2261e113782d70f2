"""The ledger's identities can be broken: each contradiction between balance, entries and lots is seen."""

from dataclasses import replace

import pytest

from tests.contracts.accounts import grant_each
from tests.contracts.identities import Tally, assert_identities
from tests.contracts.samples import grant
from tests.contracts.stores import Store

SOUND = Tally(
    "c-1",
    balance=70,
    entries=70,
    entries_granted=200,
    entries_reversed=100,
    entries_expired=30,
    lots_granted=200,
    lots_reversed=100,
    lots_expired=30,
    lots_remaining=70,
)
IN_DEBT = replace(SOUND, balance=-5, entries=-5, lots_remaining=0)


@pytest.mark.parametrize("tally", [SOUND, IN_DEBT])
def test_sound_books_are_not_complained_about(tally: Tally) -> None:
    """With points or in debt."""
    assert_identities([tally])


@pytest.mark.parametrize("tally", [SOUND, IN_DEBT], ids=["sound", "in debt"])
@pytest.mark.parametrize("wrong", [name for name in Tally.__dataclass_fields__ if name != "customer_id"])
def test_every_sum_that_is_one_off_is_complained_about(tally: Tally, wrong: str) -> None:
    """No figure is left out of the comparison."""
    with pytest.raises(AssertionError, match="c-1"):
        assert_identities([SOUND, replace(tally, **{wrong: getattr(tally, wrong) + 1})])


def test_the_tallies_are_those_of_the_books(store: Store) -> None:
    """They are read behind the books' backs."""
    grant_each(store, grant("o-1", 100), grant("o-2", 7, customer_id="c-2"))
    tallies = {tally.customer_id: tally for tally in store.tallies()}
    assert (tallies["c-1"].balance, tallies["c-1"].lots_granted, tallies["c-2"].entries) == (100, 100, 7)
