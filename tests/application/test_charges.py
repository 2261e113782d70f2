"""Charges of bills: frozen when the bill is issued, once per attempt, a new attempt only after a definite decline."""

import pytest

from domain.errors import Refused
from domain.operations import Finding, Outcome, State
from domain.payments import CHARGE, Notice
from tests.application.killed import at_unit, killed_at_unit, killed_during_the_call
from tests.application.office import KEY, MONTH, Office

SECOND = f"{KEY}:2"
DECLINED = "pm_card_chargeDeclined"


def test_a_charge_is_what_the_bill_says(office: Office) -> None:
    """Amount, currency, number, and who pays it with what."""
    office.have_subscribed(payment_customer="cus_1")
    office.billing.run(MONTH)
    assert office.charge_of().content == {
        **{"amount": 10_000, "currency": "JPY", "bill": "2026-000001", "customer_id": "c-1", "month": MONTH},
        **{"payment_method": "pm_card_visa", "payment_customer": "cus_1", "replaces": None},
    }


def test_a_charge_is_frozen_when_the_bill_is_issued(office: Office) -> None:
    """A payment method that changes afterwards is for the next bill: a resend is the same to the byte (B22a)."""
    office.have_subscribed()
    office.provider.will_answer(KEY, Outcome.UNKNOWN, works=True)
    office.provider.will_find(KEY, Finding.NOT_FOUND)
    office.billing.run(MONTH, wait=False)
    office.charge()
    office.have(payment_method="pm_new", payment_customer="cus_new")
    office.clock.advance(600)
    office.charge()
    assert (len(office.provider.bodies), len(set(office.provider.bodies))) == (2, 1)
    assert [(one.key, one.payment_method) for one in office.provider.charges] == [(KEY, "pm_card_visa")]


def declined(office: Office) -> None:
    """The charge of September was declined, and the customer has another card since."""
    office.have_subscribed(payment_method=DECLINED)
    assert office.billing.run(MONTH).status.tally.declined == 1
    office.have(payment_method="pm_new")


def test_a_declined_charge_is_not_tried_again_by_any_run(any_office: Office) -> None:
    """A decline is final for that attempt."""
    declined(any_office)
    for _ in range(3):
        any_office.clock.advance(86_400)
        any_office.billing.run(MONTH)
        any_office.billing.bill_customer("c-1", MONTH)
    assert any_office.provider.received == [KEY]


def test_a_retry_is_a_new_attempt_under_its_own_key(any_office: Office) -> None:
    """With the payment method of now, the same amount and number, in place of the declined one."""
    declined(any_office)
    bill = any_office.billing.retry(MONTH, "c-1")
    assert (bill.attempt, bill.operation and bill.operation.state) == (2, State.COMPLETED)
    assert any_office.operation(SECOND).content == {
        **any_office.operation(KEY).content,
        **{"payment_method": "pm_new", "replaces": "pi_1"},
    }
    assert [(one.key, one.status) for one in any_office.provider.charges] == [(KEY, "canceled"), (SECOND, "succeeded")]
    tally = any_office.billing.status(MONTH).tally
    assert (tally.charged, tally.declined) == (1, 0)


def test_each_further_attempt_has_the_next_number(office: Office) -> None:
    """The third replaces the second."""
    declined(office)
    office.have(payment_method=DECLINED)
    office.billing.retry(MONTH, "c-1")
    office.have(payment_method="pm_new")
    office.billing.retry(MONTH, "c-1")
    assert [one.key for one in office.provider.charges] == [KEY, SECOND, f"{KEY}:3"]
    assert [one.status for one in office.provider.charges] == ["canceled", "canceled", "succeeded"]


def test_a_retry_that_does_not_wait_leaves_it_to_the_workers(office: Office) -> None:
    """They charge it under the new key."""
    declined(office)
    bill = office.billing.retry(MONTH, "c-1", wait=False)
    assert (bill.attempt, office.provider.received) == (2, [KEY])
    office.charge()
    assert office.provider.paid() == [SECOND]


OTHER_STATES = [
    (Outcome.DONE, "completed"),
    (Outcome.UNKNOWN, "ready"),
    (Outcome.RUNNING, "ready"),
    (Outcome.FLAGGED, "needs_confirmation"),
]


@pytest.mark.parametrize(("outcome", "state"), OTHER_STATES)
def test_nothing_but_a_declined_bill_is_charged_anew(office: Office, outcome: Outcome, state: str) -> None:
    """After an unknown outcome the key never changes (trap 21)."""
    office.have_subscribed()
    office.billing.run(MONTH, wait=False)
    office.provider.will_answer(KEY, outcome)
    office.charge()
    with pytest.raises(Refused, match=f"is {state}; only a declined one can be charged anew"):
        office.billing.retry(MONTH, "c-1")
    assert (list(office.books.operations.operations), office.bill().attempt) == ([KEY], 1)


@pytest.mark.parametrize(("amount", "settlement"), [(0, "nothing"), (-1, "carried")])
def test_what_was_not_to_be_charged_is_not_charged_anew(office: Office, amount: int, settlement: str) -> None:
    """There was no attempt."""
    office.have()
    office.sell(amount=amount)
    office.billing.run(MONTH)
    with pytest.raises(Refused, match=f"is {settlement}; only a declined one"):
        office.billing.retry(MONTH, "c-1")


def test_a_retry_twice_is_one(office: Office) -> None:
    """The second is told that it is on its way."""
    declined(office)
    office.billing.retry(MONTH, "c-1", wait=False)
    with pytest.raises(Refused, match="is ready"):
        office.billing.retry(MONTH, "c-1", wait=False)
    office.charge()
    assert office.provider.paid() == [SECOND]


def test_a_retry_whose_commit_is_in_doubt_is_made(office: Office) -> None:
    """The unit that runs again finds its own attempt: it was done, and is told so (trap 9)."""
    declined(office)
    with at_unit(office, 1, office.transactions.lose_next_answer):
        bill = office.billing.retry(MONTH, "c-1", wait=False)
    assert bill.attempt == 2


def test_who_has_no_payment_method_is_not_charged_anew(office: Office) -> None:
    """Nor is a bill that there is not."""
    declined(office)
    office.have(payment_method=None)
    with pytest.raises(Refused, match="has no payment_method"):
        office.billing.retry(MONTH, "c-1")
    with pytest.raises(Refused, match="has no bill of 2026-08"):
        office.billing.retry("2026-08", "c-1")
    with pytest.raises(Refused, match="customer c-404 has no bill"):
        office.billing.retry(MONTH, "c-404")


def test_a_charge_that_is_processed_for_days_is_one(any_office: Office) -> None:
    """A bank takes its time: the run does not wait for it, it is asked after, and paid in the end."""
    any_office.have_subscribed(payment_method="pm_bank")
    tally = any_office.billing.run(MONTH).status.tally
    assert (tally.open, tally.charged, any_office.charge_of().attempts) == (1, 0, 0)
    for _ in range(5):
        any_office.clock.advance(86_400)
        any_office.billing.run(MONTH)
    any_office.provider.charges[0].status = "succeeded"
    any_office.clock.advance(600)
    assert any_office.billing.run(MONTH).status.tally.charged == 1
    assert any_office.provider.received == [KEY]


def test_a_charge_that_fails_after_days_is_declined(any_office: Office) -> None:
    """And may be tried anew, in place of the failed one."""
    any_office.have_subscribed(payment_method="pm_bank")
    any_office.billing.run(MONTH)
    any_office.provider.charges[0].status = "requires_payment_method"
    any_office.clock.advance(600)
    assert any_office.billing.run(MONTH).status.tally.declined == 1
    any_office.have(payment_method="pm_new")
    any_office.billing.retry(MONTH, "c-1")
    assert any_office.provider.paid() == [SECOND]


KILLS = {
    "after the claim": lambda office: killed_at_unit(office, 2, office.charge),
    "during the call": lambda office: killed_during_the_call(office, office.charge, of=office.provider),
    "after the answer": lambda office: killed_at_unit(office, 3, office.charge),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_worker_that_is_killed_charges_once(any_office: Office, kill: str) -> None:
    """Swept, looked up, and charged once, at all points; a run started meanwhile does not charge either (B25)."""
    any_office.have_subscribed("c-1", "c-2")
    any_office.billing.run(MONTH, wait=False)
    KILLS[kill](any_office)
    assert any_office.charge() == 0
    any_office.after_the_lease()
    any_office.charge()
    any_office.reconcile.execute()
    assert any_office.billing.run(MONTH).status.tally.charged == 2
    assert sorted(any_office.provider.paid()) == ["billing:c-1:2026-09", "billing:c-2:2026-09"]


def test_a_command_takes_over_what_another_held_when_it_was_killed(any_office: Office) -> None:
    """No worker is alive: the run itself waits for the lease, sweeps it and goes on (B25)."""
    any_office.have_subscribed()
    killed_during_the_call(any_office, lambda: any_office.billing.run(MONTH), of=any_office.provider)
    report = any_office.billing.run(MONTH)
    any_office.clock.advance(600)
    any_office.reconcile.execute()
    assert (report.created, any_office.billing.run(MONTH).status.tally.charged) == (0, 1)
    assert any_office.provider.received == [KEY]


def test_a_charge_in_doubt_without_keys_is_never_sent_again() -> None:
    """It waits for a person, and the next run says so (B25)."""
    office = Office(honours_keys=False)
    office.have_subscribed()
    office.provider.will_answer(KEY, Outcome.UNKNOWN)
    tally = office.billing.run(MONTH).status.tally
    office.clock.advance(86_400)
    office.reconcile.execute()
    assert (tally.needs_confirmation, office.billing.run(MONTH).status.tally.needs_confirmation) == (1, 1)
    assert office.provider.received == [KEY]


@pytest.mark.parametrize("unit", [1, 2, 3], ids=["before the gate", "at the gate", "between answer and commit"])
@pytest.mark.parametrize("lost", ["races", "answer"])
def test_a_database_that_tries_again_charges_once(any_office: Office, unit: int, lost: str) -> None:
    """Three serialization failures in a row, or a COMMIT without an answer, call nobody again (B26)."""
    any_office.have_subscribed()
    any_office.billing.run(MONTH, wait=False)
    fail = any_office.transactions.lose_next_answer
    with at_unit(any_office, unit, fail if lost == "answer" else lambda: any_office.transactions.lose_next_races(3)):
        any_office.charge()
    assert (any_office.provider.received, any_office.charge_of().state) == ([KEY], State.COMPLETED)


def test_what_will_be_charged_is_stored_before_it_is_sent(any_office: Office) -> None:
    """The committed intent stands when the first byte leaves (B26)."""
    any_office.have_subscribed()
    seen: list[tuple[State, bool]] = []

    def look() -> None:
        any_office.transactions.assert_none_open()
        seen.append((any_office.charge_of().state, any_office.charge_of().was_sent))

    any_office.provider.during_call = look
    any_office.billing.run(MONTH)
    assert seen == [(State.PROCESSING, True)]


def test_an_attempt_that_ended_without_an_intent_still_replaces_the_one_before(office: Office) -> None:
    """The second attempt came to nothing at the provider, the first one's intent may still be paid: it is canceled."""
    declined(office)
    first = office.charge_of().result["reference"]
    office.provider.will_answer(SECOND, Outcome.REFUSED, works=False)
    office.billing.retry(MONTH, "c-1")
    assert "reference" not in office.operation(SECOND).result
    office.billing.retry(MONTH, "c-1")
    assert office.operation(f"{KEY}:3").content["replaces"] == first


def test_a_charge_is_not_sent_again_to_another_account(office: Office) -> None:
    """Which does not know the key under which it was sent: a person decides (trap 15)."""
    office.have_subscribed()
    office.provider.will_answer(KEY, Outcome.UNKNOWN, works=True)
    office.provider.will_find(KEY, Finding.NOT_FOUND)
    office.billing.run(MONTH, wait=False)
    office.charge()
    office.charges.provider = "another account"
    office.clock.advance(600)
    office.charge()
    assert office.charge_of().state is State.NEEDS_CONFIRMATION
    assert office.provider.received == [KEY]


def test_a_provider_that_never_says_what_became_of_it_is_not_asked_for_ever(office: Office) -> None:
    """It answers each time, but with nothing that settles it: a person is told."""
    office.have_subscribed()
    office.provider.will_answer(KEY, Outcome.UNKNOWN, works=True)
    for _ in range(10):
        office.provider.will_find(KEY, Finding.UNCLEAR)
    office.billing.run(MONTH, wait=False)
    for _ in range(6):
        office.charge()
        office.clock.advance(600)
    assert office.charge_of().state is State.NEEDS_CONFIRMATION
    assert office.provider.received == [KEY]


def test_what_is_paid_after_a_decline_is_found(office: Office) -> None:
    """The provider tells of it, and is asked: the bill is charged, and nothing remains to be charged anew."""
    declined(office)
    reference = office.charge_of().result["reference"]
    assert office.notices.execute(Notice(CHARGE, reference, KEY, paid=True))
    assert office.charge_of().state is State.NEEDS_CONFIRMATION
    office.provider.will_find(KEY, Finding.FOUND, result={"reference": reference, "status": "succeeded"})
    office.reconcile.execute()
    assert office.billing.status(MONTH).tally.charged == 1


def test_news_of_another_intent_do_not_reopen_a_decline(office: Office) -> None:
    """Nor does a notice that it was declined."""
    declined(office)
    reference = office.charge_of().result["reference"]
    office.notices.execute(Notice(CHARGE, "pi_other", KEY, paid=True))
    office.notices.execute(Notice(CHARGE, reference, KEY))
    assert office.charge_of().state is State.REFUSED
