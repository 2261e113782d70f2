"""`TakeNotice`: what the provider tells by itself, late, repeated and out of order, ends alike."""

import itertools

import pytest

from domain.errors import Refused
from domain.operations import Finding, Outcome, State
from domain.payments import CHARGE, Notice, RefundState
from tests.application.killed import at_unit
from tests.application.office import KEY, MONTH, Office

ONCE = {"R1": (1000, "succeeded")}
# Whether the provider was given our key and tells it, or has lost it on the way.
told_by = pytest.mark.parametrize("key", ["refund:R1", None], ids=["by key", "by reference"])


@told_by
def test_a_notice_after_our_answer_changes_nothing(office: Office, key: str | None) -> None:
    """The refund is known by the provider's id (B31a)."""
    office.paid(2000)
    office.refund()
    office.give_back()
    assert office.hear("re_1", key=key)
    assert office.refunds() == ONCE


@told_by
def test_a_notice_before_our_answer_is_the_same_refund(office: Office, key: str | None) -> None:
    """Whichever comes first creates, the other confirms: what remains is counted once (B31b, B31c)."""
    office.paid(2000)
    office.refund()
    told: list[bool] = []
    office.provider.during_call = lambda: told.append(office.hear("re_1", key=key))
    office.give_back()
    assert told == [True]
    assert office.refund("R2", None).money.amount == 1000
    assert office.refunds()["R1"] == (1000, "succeeded")


@told_by
def test_a_notice_is_taken_three_times_before_and_after_our_answer(office: Office, key: str | None) -> None:
    """As once (B31d)."""
    office.paid(2000)
    office.refund()
    told: list[bool] = []

    def tell_thrice() -> None:
        told.extend(office.hear("re_1", key=key) for _ in range(3))

    office.provider.during_call = tell_thrice
    office.give_back()
    tell_thrice()
    assert told == [True] * 6
    assert office.refund("R2", None).money.amount == 1000


def test_a_notice_without_a_key_and_one_with_it_are_the_same_refund(office: Office) -> None:
    """Heard of by reference before our answer, by key after it."""
    office.paid(2000)
    office.refund()
    office.hear("re_1", key=None)
    office.give_back()
    assert office.hear("re_1")
    assert office.refund("R2", None).money.amount == 1000


STATES = [RefundState.PENDING, RefundState.SUCCEEDED]


@pytest.mark.parametrize("states", sorted({*itertools.permutations([*STATES, *STATES], 3)}))
def test_notices_out_of_order_end_alike(office: Office, states: tuple[RefundState, ...]) -> None:
    """A refund only ever moves on."""
    office.paid(2000)
    office.refund()
    office.provider.will_answer("refund:R1", Outcome.UNKNOWN, works=True)
    office.give_back()
    for state in states:
        office.hear("re_1", state)
    assert office.refunds() == {"R1": (1000, str(max(states, key=STATES.index)))}


def test_a_late_failure_reopens_what_was_given_back(any_office: Office) -> None:
    """The money came back: it may go out again, under another id; a late success does not change that."""
    any_office.paid(2000)
    any_office.refund("R1", 2000)
    any_office.give_back()
    any_office.hear("re_1", RefundState.FAILED, amount=2000)
    any_office.hear("re_1", RefundState.SUCCEEDED, amount=2000)
    assert any_office.refunds() == {"R1": (2000, "failed")}
    assert any_office.refund("R1", 2000).state is RefundState.FAILED
    any_office.refund("R2", 2000)
    any_office.give_back()
    assert any_office.refunds()["R2"] == (2000, "succeeded")


def test_a_failure_heard_of_while_pending_frees_the_money(office: Office) -> None:
    """Before our own look-up knows; that ends alike."""
    office.paid(2000)
    office.provider.refunds_wait = True
    office.refund("R1", 2000)
    office.give_back()
    office.provider.refunds[0].status = "failed"
    office.hear("re_1", RefundState.FAILED, amount=2000)
    assert office.refund("R2", 2000).state is RefundState.REQUESTED
    office.give_back()
    assert office.operation("refund:R1").state is State.REFUSED
    assert office.refunds()["R1"] == (2000, "failed")


def test_a_refund_made_by_hand_is_adopted(office: Office) -> None:
    """A row of its own, beside ours: 1500 of 2000 went back (B31e)."""
    charge = office.paid(2000)
    office.refund()
    office.give_back()
    by_hand = office.provider.refund_by_hand(charge, 500)
    for _ in range(3):
        assert office.hear(by_hand.reference, key=None, amount=500, charge=charge)
    assert office.refunds() == {**ONCE, "provider:re_2": (500, "succeeded")}
    adopted = office.books.refunds.get("provider:re_2")
    assert adopted is not None
    assert (adopted.origin, adopted.reference) == ("provider", "re_2")
    with pytest.raises(Refused, match="500 of 2000 JPY remain"):
        office.refund("R2", 501)


def test_a_refund_made_by_hand_may_fail_late(office: Office) -> None:
    """Then its money remains again."""
    charge = office.paid(2000)
    office.hear("re_9", key=None, amount=2000, charge=charge)
    office.hear("re_9", RefundState.FAILED, key=None, amount=2000, charge=charge)
    assert office.refund("R1", None).money.amount == 2000


def test_a_second_refund_under_our_key_is_adopted_beside_ours(office: Office) -> None:
    """The provider made it twice: both are counted, and nothing is hidden."""
    office.paid(2000)
    office.refund()
    office.give_back()
    office.hear("re_77")
    assert office.refunds() == {**ONCE, "provider:re_77": (1000, "succeeded")}


@pytest.mark.parametrize(("key", "charge"), [("refund:R404", "pi_404"), (None, "pi_404"), ("email:x", "pi_404")])
def test_what_is_not_ours_is_told_so(office: Office, key: str | None, charge: str) -> None:
    """And stored nowhere."""
    office.paid(2000)
    assert not office.hear("re_1", key=key, charge=charge)
    assert office.refunds() == {}


@pytest.mark.parametrize("key", [KEY, None])
def test_a_notice_of_a_charge_only_makes_us_look(office: Office, key: str | None) -> None:
    """What it says is not believed: our own look-up decides."""
    office.have_subscribed(payment_method="pm_bank")
    office.billing.run(MONTH)
    office.provider.charges[0].status = "succeeded"
    assert office.notices.execute(Notice(CHARGE, "pi_1", key)) is (key is not None)
    assert office.charge_of().state is State.READY
    office.charge()
    assert office.charge_of().state is (State.COMPLETED if key else State.READY)


def test_a_notice_of_a_charge_settles_what_waited_for_a_person() -> None:
    """The reconciler looks at once, and finds it."""
    office = Office(honours_keys=False)
    office.have_subscribed()
    office.provider.will_answer(KEY, Outcome.UNKNOWN, works=True)
    office.billing.run(MONTH)
    office.provider.will_find(KEY, Finding.NOT_FOUND)
    assert (office.reconcile.execute(), office.reconcile.execute()) == (0, 0)
    office.notices.execute(Notice(CHARGE, "pi_1", KEY))
    assert (office.reconcile.execute(), office.charge_of().state) == (1, State.COMPLETED)


def test_a_notice_of_a_paid_charge_moves_nothing(office: Office) -> None:
    """It is final."""
    office.paid(2000)
    before = office.charge_of()
    assert office.notices.execute(Notice(CHARGE, "pi_1", KEY))
    assert (office.charge_of(), office.charge()) == (before, 0)


def test_a_notice_whose_commit_is_in_doubt_is_taken_once(office: Office) -> None:
    """The unit that runs again finds what it adopted."""
    charge = office.paid(2000)
    with at_unit(office, 1, office.transactions.lose_next_answer):
        assert office.hear("re_9", key=None, amount=500, charge=charge)
    assert office.refunds() == {"provider:re_9": (500, "succeeded")}
