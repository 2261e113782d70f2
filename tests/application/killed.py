"""A worker that is killed in the middle, as SIGKILL does it: nothing after that point runs."""

from collections.abc import Callable

import pytest

from tests.application.shop import Shop


class Killed(BaseException):
    """Not an Exception: no `except` of ours may see it."""


def killed_during_the_call(shop: Shop, work: Callable[[], object]) -> None:
    """The carrier has the requests, and has done what it does; no answer is ever read."""

    def kill() -> None:
        raise Killed

    shop.carrier.during_call = kill
    with pytest.raises(Killed):
        work()
    shop.carrier.during_call = shop.transactions.assert_none_open


def killed_at_unit(shop: Shop, number: int, work: Callable[[], object]) -> None:
    """Killed when its transaction of that number (1: claim, 2: gate, 3: settlement) was to begin."""
    honest, begun = shop.transactions.run, []

    def run(unit: Callable[..., object]) -> object:
        begun.append(unit)
        if len(begun) == number:
            raise Killed
        return honest(unit)

    shop.transactions.run = run  # type: ignore[method-assign, assignment]
    with pytest.raises(Killed):
        work()
    shop.transactions.run = honest  # type: ignore[method-assign]
