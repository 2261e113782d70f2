"""`RequestRefund`: money goes back once per refund id, and never more than was paid."""

import pytest

from domain.errors import Conflict, Malformed, Refused
from domain.operations import Outcome, State
from domain.payments import RefundState
from tests.application.killed import at_unit
from tests.application.office import KEY, MONTH, Office


def test_a_refund_is_asked_for_and_made_once(any_office: Office) -> None:
    """Of the charge it belongs to, in its currency."""
    charge = any_office.paid(9899)
    refund = any_office.refund("R1", 5800)
    assert (refund.state, refund.money.amount, refund.void) == (RefundState.REQUESTED, 5800, False)
    any_office.give_back()
    any_office.give_back()
    assert any_office.refunds() == {"R1": (5800, "succeeded")}
    assert [(one.key, one.charge, one.money.amount) for one in any_office.provider.refunds] == [
        ("refund:R1", charge, 5800)
    ]


def test_no_amount_means_what_remains(office: Office) -> None:
    """2000 of 2700 after 700 (B29)."""
    office.paid(2700)
    office.refund("R1", 700)
    assert office.refund("R2", None).money.amount == 2000
    office.give_back()
    assert office.provider.refunded("pi_1") == 2700


def test_refunds_in_steps_end_at_the_charge(office: Office) -> None:
    """4999 and 1 of 5000; then neither 1 nor all once more (B29)."""
    office.paid(5000)
    for refund_id, amount in (("R1", 4999), ("R2", 1)):
        office.refund(refund_id, amount)
    too_much: dict[str, int | None] = {"R3": 1, "R4": 5000, "R5": None}
    for refund_id, more in too_much.items():
        with pytest.raises(Refused, match="0 of 5000 JPY remain to be refunded") as refused:
            office.refund(refund_id, more)
        assert refused.value.field == "amount"
    assert list(office.refunds()) == ["R1", "R2"]


def test_what_a_rule_refuses_leaves_its_id_free(office: Office) -> None:
    """Nothing of it is stored."""
    office.paid(5000)
    with pytest.raises(Refused):
        office.refund("R1", 5001)
    assert office.refund("R1", 5000).money.amount == 5000


def test_the_same_refund_again_is_answered_as_it_is_stored(office: Office) -> None:
    """Before anything is computed: also when nothing remains, and with or without the amount."""
    office.paid(5000)
    first = office.refund("R1", 5000)
    assert [office.refund("R1", amount) for amount in (5000, None)] == [first] * 2
    office.give_back()
    assert office.refund("R1", 5000).state is RefundState.SUCCEEDED
    assert len(office.provider.refunds) == 1


def test_all_that_remains_asked_for_again_is_the_same_refund(office: Office) -> None:
    """What remains meanwhile does not matter."""
    office.paid(5000)
    office.refund("R1", None)
    assert office.refund("R1", None).money.amount == 5000


@pytest.mark.parametrize(
    ("customer_id", "month", "amount"), [("c-1", MONTH, 999), ("c-1", "2026-08", 1000), ("c-2", MONTH, 1000)]
)
def test_a_known_refund_with_other_content_is_a_conflict(
    office: Office, customer_id: str, month: str, amount: int
) -> None:
    """Whether or not that other charge exists; the first one stays (B22)."""
    office.paid(5000)
    office.refund("R1", 1000)
    with pytest.raises(Conflict, match="1000 JPY of 2026-09 to c-1"):
        office.ask_back.execute("R1", customer_id, month, amount)
    assert office.refunds() == {"R1": (1000, "requested")}


@pytest.mark.parametrize("unit", [1, 2])
def test_a_refund_whose_commit_is_in_doubt_is_asked_for_once(office: Office, unit: int) -> None:
    """The unit that runs again finds it."""
    office.paid(5000)
    with at_unit(office, unit, office.transactions.lose_next_answer):
        assert office.refund("R1", None).money.amount == 5000
        office.give_back()
    assert (office.refunds(), office.provider.received[1:]) == ({"R1": (5000, "succeeded")}, ["refund:R1"])


def test_what_was_not_paid_is_not_given_back(office: Office) -> None:
    """Not charged yet, declined, or with no bill at all."""
    office.have_subscribed(payment_method="pm_card_chargeDeclined")
    with pytest.raises(Refused, match="customer c-1 was not charged for 2026-09"):
        office.refund()
    office.billing.run(MONTH, wait=False)
    with pytest.raises(Refused, match="the charge is ready"):
        office.refund()
    office.charge()
    with pytest.raises(Refused, match="the charge is refused"):
        office.refund()
    assert office.refunds() == {}


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.FLAGGED])
def test_what_may_have_been_paid_is_not_given_back_yet(office: Office, outcome: Outcome) -> None:
    """First somebody has to know."""
    office.have_subscribed()
    office.billing.run(MONTH, wait=False)
    office.provider.will_answer(KEY, outcome, works=True)
    office.charge()
    with pytest.raises(Refused, match="c-1 has not paid for 2026-09"):
        office.refund()


@pytest.mark.parametrize("amount", [0, -1, 1.5, "1000", True, 2**63])
def test_an_amount_that_is_none_is_refused(office: Office, amount: object) -> None:
    """Whole minor units, at least one."""
    office.paid(5000)
    with pytest.raises(Malformed) as refused:
        office.ask_back.execute("R1", "c-1", MONTH, amount)
    assert refused.value.field == "amount"


def test_an_id_of_the_providers_own_refunds_is_refused(office: Office) -> None:
    """Those are adopted; ours must never be taken for one."""
    office.paid(5000)
    with pytest.raises(Malformed, match="must not begin with provider:"):
        office.refund("provider:re_1")


def test_a_refund_that_is_pending_keeps_its_money(office: Office) -> None:
    """2500 do not remain while 3000 of 5000 are pending; after they failed, they do (B29)."""
    office.paid(5000)
    office.provider.refunds_wait = True
    office.refund("R1", 3000)
    office.give_back()
    assert office.refunds() == {"R1": (3000, "pending")}
    with pytest.raises(Refused, match="2000 of 5000 JPY remain"):
        office.refund("R2", 2500)
    office.provider.refunds[0].status = "failed"
    office.clock.advance(600)
    office.give_back()
    assert office.refunds() == {"R1": (3000, "failed")}
    office.refund("R2", 2500)
    office.give_back()
    assert office.provider.refunded("pi_1") == 2500


def test_a_pending_refund_is_asked_after_until_it_is_done(any_office: Office) -> None:
    """It is not asked for again."""
    any_office.paid(5000)
    any_office.provider.refunds_wait = True
    any_office.refund()
    for _ in range(4):
        any_office.give_back()
        any_office.clock.advance(86_400)
    assert (any_office.refunds(), any_office.provider.received[1:]) == ({"R1": (1000, "pending")}, ["refund:R1"])
    any_office.provider.refunds[0].status = "succeeded"
    any_office.give_back()
    assert any_office.refunds() == {"R1": (1000, "succeeded")}


@pytest.mark.parametrize("outcome", [Outcome.UNKNOWN, Outcome.FLAGGED, Outcome.THROTTLED])
def test_a_refund_of_unknown_fate_keeps_its_money(any_office: Office, outcome: Outcome) -> None:
    """It may have gone: nobody else gets it."""
    any_office.paid(5000)
    any_office.refund("R1", 3000)
    any_office.provider.will_answer("refund:R1", outcome)
    any_office.give_back()
    with pytest.raises(Refused, match="2000 of 5000 JPY remain"):
        any_office.refund("R2", 2001)


def test_a_refund_that_was_refused_frees_its_money(any_office: Office) -> None:
    """It surely did not go."""
    any_office.paid(5000)
    any_office.refund("R1", 5000)
    any_office.provider.will_answer("refund:R1", Outcome.REFUSED)
    any_office.give_back()
    any_office.refund("R2", 5000)
    any_office.give_back()
    assert any_office.refunds() == {"R1": (5000, "failed"), "R2": (5000, "succeeded")}


def processing(office: Office) -> None:
    """September is being charged by a bank that takes its time."""
    office.have_subscribed(payment_method="pm_bank")
    office.billing.run(MONTH)


def test_a_charge_that_is_still_processed_is_stopped_instead(any_office: Office) -> None:
    """As a whole; that is no decline, and nobody may charge it anew."""
    processing(any_office)
    refund = any_office.refund("R1", None)
    assert (refund.void, refund.money.amount) == (True, 10_000)
    any_office.give_back()
    assert (any_office.refunds(), any_office.provider.refunds) == ({"R1": (10_000, "succeeded")}, [])
    any_office.clock.advance(600)
    status = any_office.billing.run(MONTH).status
    assert (status.tally.stopped, status.tally.declined, list(status.waiting)) == (1, 0, [])
    with pytest.raises(Refused, match="the charge was stopped by refund R1"):
        any_office.billing.retry(MONTH, "c-1")
    assert [one.status for one in any_office.provider.charges] == ["canceled"]


def test_a_charge_that_is_still_processed_is_not_given_back_in_part(office: Office) -> None:
    """Nothing was paid yet."""
    processing(office)
    with pytest.raises(Refused, match="it can be stopped as a whole only"):
        office.refund("R1", 9_999)
    assert office.refunds() == {}


def test_a_charge_is_stopped_once(office: Office) -> None:
    """A second refund of it finds nothing left."""
    processing(office)
    office.refund("R1", 10_000)
    for amount in (10_000, None):
        with pytest.raises(Refused):
            office.refund("R2", amount)
    assert list(office.refunds()) == ["R1"]


def test_a_charge_that_was_paid_before_it_could_be_stopped_is_given_back(office: Office) -> None:
    """The stop failed, and the whole of it remains to be refunded."""
    processing(office)
    office.refund("R1", None)
    office.provider.charges[0].status = "succeeded"
    office.give_back()
    assert office.refunds() == {"R1": (10_000, "failed")}
    office.clock.advance(600)
    office.charge()
    assert office.charge_of().state is State.COMPLETED
    office.refund("R2", None)
    office.give_back()
    assert office.provider.refunded("pi_1") == 10_000
