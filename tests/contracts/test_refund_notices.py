"""`TakeNotice` over both stores: one refund of the provider is one refund here, whoever tells of it and when."""

import pytest

from application.payments import RequestRefund, TakeNotice
from domain.money import Money
from domain.operations import State, Step
from domain.payments import REFUND, Notice, RefundState
from tests.contracts.billing import end_refund, paid
from tests.contracts.crowds import in_threads
from tests.contracts.stores import Store

ANSWER = Step(State.COMPLETED, result={"reference": "re_1", "status": "succeeded"})


def tell(store: Store, *keys: str | None, state: RefundState = RefundState.SUCCEEDED) -> list[bool]:
    """The provider tells of the refund re_1, once for each key that it knows of it."""
    take = TakeNotice(store.transactions)
    return [take.execute(Notice(REFUND, "re_1", key, "pi_c-1", Money(1000, "JPY"), state)) for key in keys]


def asked(store: Store) -> None:
    paid(store, 5000)
    RequestRefund(store.transactions).execute("R1", "c-1", "2026-09", 1000)


@pytest.mark.parametrize("before", ["refund:R1", None], ids=["key", "no key"])
@pytest.mark.parametrize("after", ["refund:R1", None], ids=["key", "no key"])
def test_what_is_heard_before_and_after_our_answer_is_one(store: Store, before: str | None, after: str | None) -> None:
    """With our key or without it, however often (B31)."""
    asked(store)
    assert tell(store, before, before) == [True, True]
    end_refund(store, "R1", ANSWER)
    assert tell(store, after, after) == [True, True]
    assert RequestRefund(store.transactions).execute("R2", "c-1", "2026-09").money.amount == 4000


def test_many_notices_at_once_adopt_one_refund(store: Store) -> None:
    """Each waits for the others."""
    paid(store, 5000)
    assert in_threads(lambda _: tell(store, None, None, None)) == [[True] * 3] * 8
    refunds = store.run(lambda books: books.refunds.of_charge("c-1", "2026-09"))
    assert [(one.refund_id, one.money.amount) for one in refunds] == [("provider:re_1", 1000)]


def test_notices_at_once_in_any_order_end_alike(store: Store) -> None:
    """Pending, done and failed from all sides: failed."""
    asked(store)
    end_refund(store, "R1", Step(State.READY, "pending", {"reference": "re_1", "status": "pending"}))
    states = [RefundState.PENDING, RefundState.SUCCEEDED, RefundState.FAILED, RefundState.SUCCEEDED]
    in_threads(lambda number: [tell(store, "refund:R1", state=states[(number + turn) % 4]) for turn in range(4)])
    refund = store.run(lambda books: books.refunds.get("R1"))
    assert refund is not None
    assert (refund.state, refund.reference) == (RefundState.FAILED, "re_1")
