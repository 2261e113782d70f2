"""What is asked of the payment provider, and what may go back (B18, B28, B29, B31)."""

from dataclasses import replace
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Malformed, Refused
from domain.money import Money
from domain.operations import Operation, State
from domain.payments import Charge, ChargeRequest, Refund, RefundState, further, joined, refund_of, remaining
from tests.domain.published import published, source_of

REQUESTED, PENDING, SUCCEEDED, FAILED = RefundState
REQUEST: Final = ChargeRequest("c-1", "2026-10", 1, Money(3410, "JPY"), "2026-000001", "pm_card_visa", "cus_1")


def charge(amount: int = 5000, state: State | None = State.COMPLETED, **result: Any) -> Charge:
    """The charge of customer c-1's October."""
    operation = Operation("billing:c-1:2026-10", "billing", "c-1", 1, "{}", state, result=result) if state else None
    return Charge("c-1", "2026-10", Money(amount, "JPY"), operation)


def refund(id_: str, amount: int, state: RefundState = SUCCEEDED, **change: Any) -> Refund:
    """A refund of that charge."""
    return Refund(id_, "c-1", "2026-10", Money(amount, "JPY"), state, **change)


def test_a_charge_is_asked_for_byte_for_byte() -> None:
    """Frozen: who pays, how much, for which bill, with which method."""
    operation = REQUEST.as_operation()
    assert (operation.key, operation.kind, operation.subject, operation.number) == (
        "billing:c-1:2026-10", "billing", "c-1", 1,
    )  # fmt: skip
    assert operation.request == (
        '{"amount":3410,"bill":"2026-000001","currency":"JPY","customer_id":"c-1","month":"2026-10",'
        '"payment_customer":"cus_1","payment_method":"pm_card_visa","replaces":null}'
    )


def test_a_new_attempt_has_a_key_of_its_own_and_names_the_one_it_replaces() -> None:
    """So that the declined one is cancelled first, and one bill never has two payable ones."""
    operation = replace(REQUEST, attempt=2, replaces="pi_1", payment_customer=None).as_operation()
    assert (operation.key, operation.number) == ("billing:c-1:2026-10:2", 2)
    assert operation.request == (
        '{"amount":3410,"bill":"2026-000001","currency":"JPY","customer_id":"c-1","month":"2026-10",'
        '"payment_customer":null,"payment_method":"pm_card_visa","replaces":"pi_1"}'
    )


@pytest.mark.parametrize(
    ("customer_id", "key"),
    [
        ("c:1", "billing:c%3A1:2026-10"),
        ("顧客", "billing:%E9%A1%A7%E5%AE%A2:2026-10"),
        ("c 1%", "billing:c%201%25:2026-10"),
    ],
)
def test_no_customers_key_is_another_ones(customer_id: str, key: str) -> None:
    """ASCII, whatever the id (B36)."""
    assert replace(REQUEST, customer_id=customer_id).key == key


def test_attempts_count_from_one() -> None:
    """There is no attempt zero to confuse with the first."""
    with pytest.raises(Malformed, match="number"):
        _ = replace(REQUEST, attempt=0).key


def test_a_refund_is_asked_for_byte_for_byte() -> None:
    """Frozen: of which charge, how much, and whether the charge is stopped instead."""
    operation = refund("r:1", 1000).as_operation("pi_1")
    assert (operation.key, operation.kind, operation.subject, operation.number) == ("refund:r%3A1", "refund", "c-1", 1)
    assert operation.request == (
        '{"amount":1000,"charge":"pi_1","currency":"JPY","customer_id":"c-1","month":"2026-10","void":false}'
    )
    assert refund("r-1", 5000, void=True).as_operation("pi_1").request == (
        '{"amount":5000,"charge":"pi_1","currency":"JPY","customer_id":"c-1","month":"2026-10","void":true}'
    )


@pytest.mark.parametrize("example", published("amounts"), ids=source_of)
def test_the_provider_sees_minor_units(example: dict[str, Any]) -> None:
    """Yen are not multiplied, and no cent gets lost (B18)."""
    money = Money.parse(example["amount"], example["currency"])
    assert money.whole_units == example["whole"]
    assert f'"amount":{example["amount"]},' in replace(REQUEST, money=money).as_operation().request
    paid = replace(charge(), money=money)
    assert f'"amount":{example["amount"]},' in refund_of(paid, [], "r-1", None).as_operation("pi_1").request


def test_a_refund_of_a_paid_charge_is_what_is_asked_for() -> None:
    """In the charge's currency, requested, and no void."""
    assert refund_of(charge(), [], "r-1", 1000) == refund("r-1", 1000, REQUESTED)


@pytest.mark.parametrize(
    ("states", "left"),
    [
        ([], 5000),
        ([REQUESTED], 4000),
        ([PENDING], 4000),
        ([SUCCEEDED], 4000),
        ([FAILED], 5000),
        ([FAILED, SUCCEEDED, PENDING, REQUESTED], 2000),
    ],
)
def test_what_has_gone_or_may_be_on_its_way_does_not_remain(states: list[RefundState], left: int) -> None:
    """Only a failed refund gives its amount free again."""
    refunds = [refund(f"r-{n}", 1000, state) for n, state in enumerate(states)]
    assert remaining(charge(), refunds) == left
    assert refund_of(charge(), refunds, "r-9", None).money.amount == left
    with pytest.raises(Refused, match=f"{left} of 5000 JPY"):
        refund_of(charge(), refunds, "r-9", left + 1)


@pytest.mark.parametrize("amount", [0, -1, 5001, 2**63])
def test_a_refund_of_nothing_or_of_too_much_is_refused(amount: int) -> None:
    """The refusal names the amount."""
    with pytest.raises(Refused) as refusal:
        refund_of(charge(), [], "r-1", amount)
    assert refusal.value.field == "amount"


@pytest.mark.parametrize("state", [None, State.READY, State.PROCESSING, State.REFUSED, State.PARKED])
@pytest.mark.parametrize("amount", [None, 1000, 5000])
def test_nothing_goes_back_of_what_was_not_paid(state: State | None, amount: int | None) -> None:
    """Whether it was never asked for, is under way or was declined."""
    with pytest.raises(Refused, match="has not paid"):
        refund_of(charge(state=state), [], "r-1", amount)


def test_nothing_goes_back_of_a_charge_that_nobody_is_sure_of() -> None:
    """A person decides first what became of it."""
    with pytest.raises(Refused, match="needs_confirmation"):
        refund_of(charge(state=State.NEEDS_CONFIRMATION, reference="pi_1"), [], "r-1", None)


def test_a_charge_still_processing_is_stopped_as_a_whole() -> None:
    """A void, never a part."""
    in_hand = charge(state=State.READY, reference="pi_1", status="processing")
    assert (in_hand.is_processing, in_hand.is_paid) == (True, False)
    assert refund_of(in_hand, [], "r-1", None) == refund("r-1", 5000, REQUESTED, void=True)
    assert refund_of(in_hand, [], "r-1", 5000).void
    with pytest.raises(Refused, match="as a whole only"):
        refund_of(in_hand, [], "r-1", 4999)


@pytest.mark.parametrize("amount", [None, 5000])
def test_a_charge_is_not_stopped_twice(amount: int | None) -> None:
    """The void that was asked for already has it all."""
    in_hand = charge(state=State.READY, reference="pi_1", status="processing")
    with pytest.raises(Refused):
        refund_of(in_hand, [refund("r-1", 5000, REQUESTED, void=True)], "r-2", amount)


@pytest.mark.parametrize(
    ("state", "result", "processing"),
    [
        (State.READY, {"reference": "pi_1", "status": "processing"}, True),
        (State.READY, {"reference": "pi_1", "status": "requires_action"}, False),
        (State.READY, {"status": "processing"}, False),  # nothing to stop is known
        (State.READY, {}, False),
        (State.COMPLETED, {"reference": "pi_1", "status": "processing"}, False),
        (State.REFUSED, {"reference": "pi_1", "status": "processing"}, False),
        (State.NEEDS_CONFIRMATION, {"reference": "pi_1", "status": "processing"}, False),
        (None, {}, False),
    ],
)
def test_what_the_provider_has_in_hand(state: State | None, result: dict[str, Any], processing: bool) -> None:
    """Only while nothing is decided, and only by the provider's own word."""
    one = charge(state=state, **result)
    assert one.is_processing is processing
    assert one.reference == result.get("reference")


def test_small_steps_never_exceed_the_charge() -> None:
    """4,999 and 1 are all of 5,000; another 1, or all of it, is refused (B29)."""
    refunds = [refund_of(charge(), [], "R1", 4999)]
    refunds.append(refund_of(charge(), refunds, "R2", 1))
    for id_, amount in (("R3", 1), ("R4", 5000), ("R5", None)):
        with pytest.raises(Refused, match="0 of 5000 JPY remain"):
            refund_of(charge(), refunds, id_, amount)


def test_in_full_after_a_part_is_what_remains() -> None:
    """700 of 2,700, then 2,000 (B29)."""
    first = refund_of(charge(2700), [], "R1", 700)
    assert refund_of(charge(2700), [first], "R2", None).money == Money(2000, "JPY")


def test_a_pending_refund_holds_its_amount_until_it_fails() -> None:
    """2,500 is refused beside 3,000 pending of 5,000, and made once these have failed (B29)."""
    with pytest.raises(Refused, match="2000 of 5000"):
        refund_of(charge(), [refund("R1", 3000, PENDING)], "R2", 2500)
    assert refund_of(charge(), [refund("R1", 3000, FAILED)], "R2", 2500).money.amount == 2500


def test_less_than_nothing_never_remains() -> None:
    """500 given back by hand at the provider, beside 800 of ours on its way, leave 0 and not -300 (B29)."""
    refunds = [refund("R1", 800, REQUESTED), refund("provider:re_9", 500, origin="provider", reference="re_9")]
    assert remaining(charge(1000), refunds) == 0


@given(st.lists(st.tuples(st.integers(1, 6000) | st.none(), st.sampled_from(RefundState)), max_size=12))
def test_what_did_not_fail_never_exceeds_the_charge(asked: list[tuple[int | None, RefundState]]) -> None:
    """Whatever is asked for, and whatever became of it."""
    refunds: list[Refund] = []
    for n, (amount, state) in enumerate(asked):
        left = remaining(charge(), refunds)
        try:
            refunds.append(replace(refund_of(charge(), refunds, f"r-{n}", amount), state=state))
        except Refused:
            assert left == 0 or (amount is not None and amount > left)
    assert 0 <= remaining(charge(), refunds) == 5000 - sum(r.money.amount for r in refunds if r.state is not FAILED)


@pytest.mark.parametrize(("one", "other"), list(product(RefundState, repeat=2)))
def test_news_of_a_refund_only_ever_moves_it_on(one: RefundState, other: RefundState) -> None:
    """Requested, pending, succeeded; a success may still fail late. Late news changes nothing."""
    order = [REQUESTED, PENDING, SUCCEEDED, FAILED]
    assert further(one, other) is order[max(order.index(one), order.index(other))]


def test_a_refund_heard_of_before_our_own_answer_is_the_same_one() -> None:
    """Joined on the provider's id, with the later news; ours is the one that is kept (B31a, B31b)."""
    ours = refund("R1", 1000, PENDING, reference="re_1")
    heard = refund("provider:re_1", 1000, SUCCEEDED, reference="re_1", origin="provider")
    assert joined([ours, heard]) == joined([heard, ours]) == [replace(ours, state=SUCCEEDED)]
    assert joined([replace(ours, state=FAILED), heard]) == [replace(ours, state=FAILED)]


def test_a_refund_made_by_hand_at_the_provider_is_one_more() -> None:
    """R1 of 1,000 and re_9 of 500 (B31e)."""
    ours = refund("R1", 1000, reference="re_1")
    by_hand = refund("provider:re_9", 500, reference="re_9", origin="provider")
    assert joined([ours, by_hand]) == [ours, by_hand]
    assert remaining(charge(2000), joined([ours, by_hand])) == 500


def test_a_refund_that_has_no_answer_yet_is_nobodys_twin() -> None:
    """Two of ours without the provider's id are two, whatever was heard meanwhile."""
    asked = [refund("R1", 1000, REQUESTED), refund("R2", 500, REQUESTED)]
    heard = refund("provider:re_1", 1000, reference="re_1", origin="provider")
    assert joined([*asked, heard]) == [*asked, heard]
