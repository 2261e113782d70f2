"""`RefundBook`: charges that can be given back, and the refunds of them."""

from dataclasses import replace

import pytest

from domain.money import Money
from domain.operations import State, Step
from domain.payments import ADOPTED, Refund, RefundState
from tests.contracts.billing import (
    OCTOBER,
    SEPTEMBER,
    end_operation,
    end_refund,
    have,
    issue_all,
    item,
    paid,
    subscription,
)
from tests.contracts.stores import Books, Store

REFUND = Refund("R1", "c-1", "2026-09", Money(1000, "JPY"))
BY_HAND = Refund(
    f"{ADOPTED}re_9", "c-1", "2026-09", Money(500, "JPY"), RefundState.SUCCEEDED, "re_9", origin="provider"
)


def add(store: Store, *refunds: Refund, ask: bool = False) -> list[bool]:
    """Stores them, and (`ask`) what must be asked of the provider."""

    def work(books: Books) -> list[bool]:
        added = [books.refunds.add(refund) for refund in refunds]
        if ask:
            books.operations.register_each([refund.as_operation("pi_c-1") for refund in refunds])
        return added

    return store.run(work)


def get(store: Store, refund_id: str = "R1") -> Refund:
    refund = store.run(lambda books: books.refunds.get(refund_id))
    assert refund is not None
    return refund


def hear(store: Store, state: RefundState, reference: str = "re_1", refund: Refund = REFUND) -> None:
    store.run(lambda books: books.refunds.hear(replace(refund, state=state, reference=reference)))


@pytest.mark.parametrize("lock", [True, False])
def test_the_charge_of_a_bill_is_known_with_its_operation(store: Store, *, lock: bool) -> None:
    """Its amount, whether it is paid, and the provider's id."""
    paid(store, 5000)
    charge = store.run(lambda books: books.refunds.charge("c-1", "2026-09", lock=lock))
    assert charge is not None
    assert (charge.money, charge.is_paid, charge.reference) == (Money(5000, "JPY"), True, "pi_c-1")


@pytest.mark.parametrize("lock", [True, False])
def test_what_was_never_to_be_charged_has_no_charge(store: Store, *, lock: bool) -> None:
    """No bill, or one that was carried."""
    have(store, item(amount=1))
    issue_all(store)
    assert store.run(lambda books: books.refunds.charge("c-1", "2026-09", lock=lock)) is None
    assert store.run(lambda books: books.refunds.charge("c-1", "2026-10", lock=lock)) is None


def test_a_charge_is_found_by_the_providers_id(store: Store) -> None:
    """Also while it is only being processed there; nobody else's."""
    paid(store)
    have(store, subscription("s-2", customer_id="c-2"))
    issue_all(store, OCTOBER, "c-2")
    processing = Step(State.READY, "processing", {"reference": "pi_2", "status": "processing"})
    end_operation(store, "billing:c-2:2026-10", processing)

    def whose(reference: str) -> tuple[str, str] | None:
        charge = store.run(lambda books: books.refunds.charge_by_reference(reference))
        return None if charge is None else (charge.customer_id, charge.month)

    found = [whose(reference) for reference in ("pi_c-1", "pi_2", "pi_3")]
    assert found == [("c-1", "2026-09"), ("c-2", "2026-10"), None]


def test_a_refund_comes_back_as_it_was(store: Store) -> None:
    """By its id and by its key, whoever made it."""
    add(store, REFUND, BY_HAND)
    assert [get(store), get(store, BY_HAND.refund_id)] == [REFUND, BY_HAND]
    assert store.run(lambda books: books.refunds.by_key("refund:R1")) == REFUND
    assert store.run(lambda books: books.refunds.by_key("refund:R404")) is None
    assert store.run(lambda books: books.refunds.get("R404")) is None


def test_a_taken_id_is_refused(store: Store) -> None:
    """The first content stays."""
    assert add(store, REFUND) == [True]
    assert add(store, replace(REFUND, customer_id="c-2", money=Money(9, "USD"))) == [False]
    assert get(store) == REFUND


def test_one_refund_of_the_provider_is_one_refund_here(store: Store) -> None:
    """Whatever id it comes under the second time."""
    assert add(store, BY_HAND, replace(BY_HAND, refund_id="other")) == [True, False]


def test_refunds_of_a_charge_come_in_the_order_of_asking(store: Store) -> None:
    """Those of other charges do not."""
    refunds = [replace(REFUND, refund_id=f"R{number}") for number in (3, 1, 2)]
    add(store, *refunds, replace(REFUND, refund_id="R0", month="2026-10"))
    assert list(store.run(lambda books: books.refunds.of_charge("c-1", "2026-09"))) == refunds


ANSWERED = [
    (Step(State.COMPLETED, result={"reference": "re_1", "status": "succeeded"}), RefundState.SUCCEEDED),
    (Step(State.READY, result={"reference": "re_1", "status": "pending"}), RefundState.PENDING),
    (Step(State.READY, "503"), RefundState.REQUESTED),
    (Step(State.NEEDS_CONFIRMATION, "silence"), RefundState.REQUESTED),
    (Step(State.REFUSED, "charge_disputed"), RefundState.FAILED),
]


@pytest.mark.parametrize(("step", "state"), ANSWERED)
def test_what_the_provider_answered_counts(store: Store, step: Step, state: RefundState) -> None:
    """Nothing has to be told twice: the answer stands at the operation."""
    add(store, REFUND, ask=True)
    end_refund(store, "R1", step)
    assert (get(store).state, get(store).reference) == (state, step.result.get("reference"))


def test_what_is_heard_counts_before_any_answer(store: Store) -> None:
    """Its id at the provider is known from then on."""
    add(store, REFUND, ask=True)
    hear(store, RefundState.PENDING)
    assert (get(store).state, get(store).reference) == (RefundState.PENDING, "re_1")


@pytest.mark.parametrize(("step", "state"), ANSWERED)
def test_a_late_failure_outweighs_every_answer(store: Store, step: Step, state: RefundState) -> None:
    """Money that did not arrive was not given back."""
    add(store, REFUND, ask=True)
    end_refund(store, "R1", step)
    hear(store, RefundState.FAILED)
    assert get(store).state is RefundState.FAILED, f"it was {state} before"


def test_an_answer_outweighs_what_was_heard_before_it(store: Store) -> None:
    """Pending, then done."""
    add(store, REFUND, ask=True)
    hear(store, RefundState.PENDING)
    end_refund(store, "R1", ANSWERED[0][0])
    assert get(store).state is RefundState.SUCCEEDED


def test_hearing_changes_nothing_else(store: Store) -> None:
    """Amount, customer and origin are what was asked for; other refunds are not touched."""
    add(store, REFUND, BY_HAND, replace(REFUND, refund_id="R2"))
    hear(store, RefundState.SUCCEEDED, refund=replace(REFUND, money=Money(9, "USD"), customer_id="c-9", void=True))
    assert get(store) == replace(REFUND, state=RefundState.SUCCEEDED, reference="re_1")
    assert (get(store, "R2"), get(store, BY_HAND.refund_id)) == (replace(REFUND, refund_id="R2"), BY_HAND)


def test_a_customers_refunds_are_those_of_all_their_months(store: Store) -> None:
    """The oldest first; nobody else's."""
    for month in (SEPTEMBER, OCTOBER):
        store.run(lambda books: books.refunds.add(Refund(f"R-{month}", "c-1", str(month), Money(100, "JPY"))))  # noqa: B023
    store.run(lambda books: books.refunds.add(Refund("R-other", "c-2", str(SEPTEMBER), Money(100, "JPY"))))
    found = store.run(lambda books: books.refunds.of_customer("c-1"))
    assert [(one.refund_id, one.month) for one in found] == [("R-2026-09", "2026-09"), ("R-2026-10", "2026-10")]
