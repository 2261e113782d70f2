"""What is charged of a bill: nothing, too little to be charged, or less than nothing."""

import pytest

from domain.billing.book import MonthTally
from tests.application.office import MONTH, Office


def test_a_bill_of_zero_is_settled_without_a_call(office: Office) -> None:
    """It is there, with a number, also for who has no payment method (B15a)."""
    office.have(payment_method=None)
    office.sell(amount=0)
    report = office.billing.run(MONTH)
    assert (report.created, report.failed, report.totals) == (1, [], {})
    assert report.status.tally == MonthTally(1, nothing=1)
    assert (office.bill().number, office.bill().settlement) == ("2026-000001", "nothing")
    assert office.provider.received == []


def test_what_is_too_little_is_carried_once(office: Office) -> None:
    """30 yen and then 980: one charge of 1010, and nothing of it a third time (B15b)."""
    office.have()
    office.sell("i-1", date="2026-07-10", amount=30)
    office.sell("i-2", date="2026-08-10", amount=980)
    for month in ("2026-07", "2026-08", MONTH):
        office.billing.run(month)
    assert office.billed() == {"2026-07": 30, "2026-08": 1010}
    assert [(one.key, one.money.amount) for one in office.provider.charges] == [("billing:c-1:2026-08", 1010)]
    assert office.billing.status("2026-07").tally == MonthTally(1, carried=1)


def test_what_is_carried_is_not_taxed_again(office: Office) -> None:
    """Its tax is in it."""
    office.have()
    office.sell("i-1", date="2026-08-10", amount=40, tax_rate="10")
    office.sell("i-2", date="2026-09-10", amount=1000, tax_rate="10")
    office.billing.run("2026-08")
    office.billing.run(MONTH)
    assert office.billed() == {"2026-08": 44, MONTH: 1000 + 100 + 44}


@pytest.mark.parametrize(
    ("currency", "amount", "charged"),
    [("JPY", 49, False), ("JPY", 50, True), ("USD", 49, False), ("USD", 50, True), ("KRW", 1, True)],
)
def test_the_least_that_is_charged_is_the_providers(
    office: Office, currency: str, amount: int, *, charged: bool
) -> None:
    """In each currency its own."""
    office.have()
    office.sell(amount=amount, currency=currency)
    tally = office.billing.run(MONTH).status.tally
    assert (tally.charged, tally.carried) == (1, 0) if charged else (0, 1)


def test_a_credit_is_kept_until_it_is_used_up(office: Office) -> None:
    """Nothing is charged, nothing is paid out; the next bills are less by it (B15d)."""
    office.have()
    office.sell("i-1", date="2026-06-10", amount=-500)
    office.sell("i-2", date="2026-07-10", amount=300)
    office.sell("i-3", date="2026-08-10", amount=1000)
    for month in ("2026-06", "2026-07", "2026-08", MONTH):
        office.billing.run(month)
    assert office.billed() == {"2026-06": -500, "2026-07": -200, "2026-08": 800}
    assert [one.money.amount for one in office.provider.charges] == [800]


def test_a_credit_that_is_just_used_up_leaves_nothing_to_pay(office: Office) -> None:
    """And nothing to carry."""
    office.have()
    office.sell("i-1", date="2026-08-10", amount=-500)
    office.sell("i-2", date="2026-09-10", amount=500)
    for month in ("2026-08", MONTH):
        office.billing.run(month)
    assert (office.billed(), office.provider.received) == ({"2026-08": -500, MONTH: 0}, [])


def test_from_a_free_plan_to_a_paid_one_is_one_bill(office: Office) -> None:
    """Of the paid price (B15c)."""
    office.have()
    office.subscribe("c-1", "free", price=0, currency="KRW", start="2018-02-01", end="2018-02-28")
    office.subscribe("c-1", "paid", price=30_000, currency="KRW", start="2018-02-01")
    report = office.billing.run("2018-02")
    assert (report.created, report.status.tally.charged, report.totals) == (1, 1, {"KRW": 30_000})


def test_taxes_are_rounded_once_per_rate(office: Office) -> None:
    """31 and 15, never 30 and 14 from the lines (B17)."""
    office.have()
    for number in range(3):
        office.sell(f"i-{number}", amount=105, tax_rate="10")
    for number in range(3, 5):
        office.sell(f"i-{number}", amount=99, tax_rate="8")
    office.billing.run(MONTH)
    assert office.billed() == {MONTH: 559}
