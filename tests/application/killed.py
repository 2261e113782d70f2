"""A worker that is killed in the middle, as SIGKILL does it: nothing after that point runs."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.application.shop import Shop
from tests.fakes.gateways import ScriptedGateway


class Killed(BaseException):
    """Not an Exception: no `except` of ours may see it."""


def killed_during_the_call(shop: Shop, work: Callable[[], object], *, of: ScriptedGateway | None = None) -> None:
    """The other machine, the carrier unless another is named, has done what it was asked; no answer is ever read."""
    gateway = of or shop.carrier
    gateway.during_call = kill
    with pytest.raises(Killed):
        work()
    gateway.during_call = shop.transactions.assert_none_open


def killed_at_unit(shop: Shop, number: int, work: Callable[[], object]) -> None:
    """Killed when its transaction of that number (1: claim, 2: gate, 3: settlement) was to begin."""
    with at_unit(shop, number, kill), pytest.raises(Killed):
        work()


def kill() -> None:
    raise Killed


@contextmanager
def at_unit(shop: Shop, number: int, happen: Callable[[], None]) -> Iterator[None]:
    """Something happens before the transaction of that number, counted from here."""
    numbers = itertools.count(1)

    def count() -> None:
        if next(numbers) == number:
            happen()

    shop.transactions.before_unit = count
    yield
    shop.transactions.before_unit = lambda: None
