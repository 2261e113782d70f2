"""`RunBilling`: a month is billed and charged once, whatever starts it and how often."""

from collections.abc import Callable, Sequence
from datetime import tzinfo

import pytest

from application.billing import Failure, creation
from domain.billing.bills import Account, Bill, bill_of
from domain.billing.book import MonthTally
from domain.calendar import Month
from domain.errors import Malformed, Refused
from domain.money import Rounding
from domain.operations import Outcome
from tests.application.killed import killed_at_unit
from tests.application.office import KEY, MONTH, Office
from tests.fakes.billing import InMemoryBillBook

THREE = ("c-1", "c-2", "c-3")
CHARGED = [f"billing:{one}:2026-09" for one in THREE]


def test_a_run_bills_and_charges_everybody_who_is_due(any_office: Office) -> None:
    """And says what it came to."""
    any_office.have_subscribed(*THREE)
    any_office.have("c-nothing")
    report = any_office.billing.run(MONTH)
    assert (report.created, report.already, report.failed, report.due) == (3, 0, [], 3)
    assert report.status.tally == MonthTally(3, charged=3, totals={"JPY": 30_000})
    assert report.totals == {"JPY": 30_000}
    assert sorted(any_office.provider.paid()) == CHARGED


def test_six_runs_are_one(any_office: Office) -> None:
    """The later ones say that everything was done already (B19)."""
    any_office.have_subscribed(*THREE)
    reports = [any_office.billing.run(MONTH) for _ in range(6)]
    assert [(one.created, one.already, one.due) for one in reports] == [(3, 0, 3)] + [(0, 3, 3)] * 5
    assert all(one.status == reports[0].status for one in reports)
    assert sorted(any_office.provider.paid()) == CHARGED
    assert len(any_office.books.bills.issued) == 3


@pytest.mark.parametrize("first", ["run", "message"])
def test_a_command_and_a_message_are_one(any_office: Office, first: str) -> None:
    """Whichever comes first (B19)."""
    any_office.have_subscribed()
    ways: list[Callable[[], object]] = [
        lambda: any_office.billing.run(MONTH),
        lambda: any_office.billing.bill_customer("c-1", MONTH),
    ]
    for start in ways if first == "run" else ways[::-1]:
        start()
    assert any_office.provider.paid() == [KEY]


def test_a_message_bills_and_charges_its_customer_alone(any_office: Office) -> None:
    """Nobody else's charge is taken on by it."""
    any_office.have_subscribed(*THREE)
    any_office.billing.run(MONTH, customers=["c-1"], wait=False)
    any_office.billing.bill_customer("c-2", MONTH)
    assert any_office.provider.paid() == ["billing:c-2:2026-09"]
    assert any_office.billed("c-3") == {}


def test_a_message_for_a_customer_who_cannot_be_billed_is_refused(office: Office) -> None:
    """With the reason, so that whoever sent it sees why."""
    office.have_subscribed(payment_method=None)
    with pytest.raises(Refused, match="has no payment_method, and 10000 JPY to pay"):
        office.billing.bill_customer("c-1", MONTH)


def test_named_customers_are_billed_and_nobody_else(office: Office) -> None:
    """Counts are of those named, states of the whole month; a later run does the rest."""
    office.have_subscribed(*THREE)
    report = office.billing.run(MONTH, customers=["c-3", "c-1", "c-1"])
    assert (report.created, report.already, report.due) == (2, 0, 2)
    report = office.billing.run(MONTH, customers=["c-1", "c-2"])
    assert (report.created, report.already, report.due, report.status.tally.bills) == (1, 1, 2, 3)
    assert sorted(office.provider.paid()) == CHARGED


@pytest.mark.parametrize("start", ["run", "preview"])
def test_an_unknown_customer_is_refused(office: Office, start: str) -> None:
    """Nothing is billed, not even the known one beside it."""
    office.have_subscribed()
    with pytest.raises(Refused, match="no customer c-404 is known"):
        getattr(office.billing, start)(MONTH, customers=["c-1", "c-404"])
    assert office.billed() == {}


@pytest.mark.parametrize("month", ["2026-13", "2026-9", "1899-12", "9999-01", 202609, None])
def test_a_month_that_is_none_is_refused(office: Office, month: object) -> None:
    """Naming what is wrong."""
    with pytest.raises(Malformed) as refused:
        office.billing.run(month)
    assert refused.value.field == "month"


def test_a_run_that_does_not_wait_charges_nobody(office: Office) -> None:
    """The workers will."""
    office.have_subscribed()
    report = office.billing.run(MONTH, wait=False)
    assert (report.created, report.status.tally.open, office.provider.received) == (1, 1, [])
    office.charge()
    assert office.provider.paid() == [KEY]


def test_a_preview_stores_and_charges_nothing(office: Office) -> None:
    """Not even the terms of the month."""
    office.have_subscribed(*THREE)
    report = office.billing.preview(MONTH)
    assert (report.created, report.coming, report.already, report.due) == (0, 3, 0, 3)
    assert report.totals == {"JPY": 30_000}
    assert (office.books.bills.issued, office.books.bills.terms(Month(2026, 9))) == ({}, None)
    assert (office.books.operations.operations, office.provider.received) == ({}, [])
    assert office.billing.preview(MONTH) == report


def test_a_previews_digest_is_that_of_the_run(office: Office) -> None:
    """Whatever part of the month was billed before; any other total is another digest."""
    office.have_subscribed(*THREE)
    office.sell(customer_id="c-1")
    office.sell("i-2", "c-zero", amount=0)
    office.sell("i-3", "c-carried", amount=-10)
    before = office.billing.preview(MONTH).digest
    office.billing.run(MONTH, customers=["c-2", "c-carried"])
    assert office.billing.preview(MONTH).digest == before
    report = office.billing.run(MONTH)
    assert report.status.tally.bills == 5
    assert office.billing.digest(MONTH) == before
    assert office.billing.preview(MONTH).digest == before
    assert office.billing.digest("2026-08") != before


def test_a_digest_tells_bills_apart(office: Office) -> None:
    """By customer and by amount."""
    office.have_subscribed(*THREE)
    digests = {office.billing.preview(MONTH, customers=[one]).digest for one in THREE}
    office.sell(customer_id="c-1", amount=1)
    digests.add(office.billing.preview(MONTH, customers=["c-1"]).digest)
    assert len(digests) == 4


def test_a_bad_customer_is_named_while_the_others_are_billed(any_office: Office) -> None:
    """Without a payment method and with something to pay; mended, the next run bills that one (B20)."""
    any_office.have_subscribed(*THREE)
    any_office.have("c-2", payment_method=None)
    report = any_office.billing.run(MONTH)
    assert (report.created, report.already, report.due) == (2, 0, 3)
    assert report.failed == [Failure("c-2", "has no payment_method, and 10000 JPY to pay")]
    assert any_office.billing.preview(MONTH).failed == report.failed
    any_office.have("c-2")
    report = any_office.billing.run(MONTH)
    assert (report.created, report.already, report.failed) == (1, 2, [])
    assert sorted(any_office.provider.paid()) == CHARGED


def test_a_mistake_of_ours_with_one_customer_bills_the_others(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, and no number is lost to it."""

    def mistaken(account: Account, month: Month, rounding: Rounding) -> Bill | None:
        assert account.customer_id != "c-2"
        return bill_of(account, month, rounding)

    monkeypatch.setattr(creation, "bill_of", mistaken)
    office.have_subscribed(*THREE)
    report = office.billing.run(MONTH)
    assert report.failed == [Failure("c-2", "could not be billed: AssertionError; see the log")]
    assert [office.bill(one).number for one in ("c-1", "c-3")] == ["2026-000001", "2026-000002"]


def test_a_store_that_fails_for_one_customer_bills_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller and smaller sets, until it is alone and named; the numbers have no gap."""
    office = Office(set_customers=8)
    customers = [f"c-{number:02}" for number in range(11)]
    office.have_subscribed(*customers)
    honest, sizes = InMemoryBillBook.issue_each, []

    def issue_each(book: InMemoryBillBook, bills: Sequence[Bill], zone: tzinfo) -> Sequence[str]:
        sizes.append(len(bills))
        if any(bill.customer_id == "c-05" for bill in bills):
            honest(book, bills[:1], zone)
            raise ValueError("out of range")
        return honest(book, bills, zone)

    monkeypatch.setattr(InMemoryBillBook, "issue_each", issue_each)
    report = office.billing.run(MONTH)
    assert report.failed == [Failure("c-05", "could not be stored: ValueError; see the log")]
    assert sizes == [8, 4, 4, 2, 1, 1, 2, 3]
    numbers = sorted(one.number for one in office.books.bills.issued.values())
    assert numbers == list(range(1, 11))


def test_a_charge_that_is_known_with_other_content_is_named(office: Office) -> None:
    """Somebody used the key before: that bill is not issued, and nothing is charged under it (B22)."""
    office.have_subscribed(*THREE)
    office.billing.run(MONTH, customers=["c-1"], wait=False)
    stolen = office.books.operations.operations.pop(KEY)
    office.books.operations.operations["billing:c-2:2026-09"] = stolen
    report = office.billing.run(MONTH, wait=False)
    assert [one.customer_id for one in report.failed] == ["c-2"]
    assert (office.billed("c-2"), office.billed("c-3")) == ({}, {MONTH: 10_000})


def test_a_run_tells_what_became_of_every_bill(office: Office) -> None:
    """Paid, declined, or for a person to decide; those that somebody must look at are named."""
    office.have_subscribed(*THREE)
    office.have("c-2", payment_method="pm_card_chargeDeclined")
    office.provider.will_answer("billing:c-3:2026-09", Outcome.FLAGGED)
    status = office.billing.run(MONTH).status
    expected = MonthTally(3, charged=1, declined=1, needs_confirmation=1, totals={"JPY": 30_000})
    assert (status.tally, [one.customer_id for one in status.waiting]) == (expected, ["c-2", "c-3"])
    assert office.billing.status(MONTH) == status


def test_a_charge_that_was_given_up_is_named_as_such(office: Office) -> None:
    """With what to do about it."""
    office.have_subscribed()
    office.billing.run(MONTH, wait=False)
    for _ in range(office.retry_policy.max_attempts):
        killed_at_unit(office, 2, office.charge)
        office.after_the_lease()
    (given_up,) = office.billing.run(MONTH).status.parked
    assert given_up.customer_id == "c-1"
    assert given_up.reason.endswith(f"try again with: operations retry {KEY}")


def test_progress_is_told_as_it_is_made() -> None:
    """Bills in sets, then charges until none is due."""
    office = Office(set_customers=2)
    office.have_subscribed(*THREE)
    told: list[tuple[str, int, int | None]] = []
    office.billing.run(MONTH, progressed=lambda *news: told.append(news))
    assert told[:2] == [("bills", 2, None), ("bills", 3, None)]
    assert (told[2], told[-1]) == (("charges", 0, 3), ("charges", 3, 3))
