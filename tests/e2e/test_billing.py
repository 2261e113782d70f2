"""A month billed beside running workers, as an operator sees it (contract, sections 5 and 6; reports B19, B22)."""

from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.e2e.installation import TOTAL, Installation, running_installation, soon
from tests.e2e.months import DECLINED, BilledMonth
from tests.entrypoints.sandbox.paying import Bill


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        installation.start_dispatcher()
        installation.start_worker(threads=8)
        yield installation


@pytest.fixture
def month(installation: Installation) -> Iterator[BilledMonth]:
    yield BilledMonth(installation)
    installation.world.http.delete("/_faults").raise_for_status()


def test_a_second_run_makes_nothing(month: BilledMonth) -> None:
    """The first creates and charges all; the second finds all of it there, and moves no money."""
    bills = month.subscribers(6)
    total = {"JPY": 6 * TOTAL}
    first = month.ikkai("run")
    assert (first.code, first.document) == (0, month.report(due=6, created=6, charged=6, total=total))
    second = month.ikkai("run")
    assert (second.code, second.document) == (0, month.report(due=6, already=6, charged=6, total=total))
    month.assert_charged_once(bills)
    assert len(month.installation.asked("charges", *bills)) == 6


def test_a_provider_that_falls_silent_charges_once(month: BilledMonth) -> None:
    """Half of the charges are made and not answered: the run waits until they are looked up, and says "charged"."""
    bills = month.subscribers(8)
    for bill in bills[::2]:
        month.installation.script("charges", "silent_after", match=bill.customer_id)
    finished = month.ikkai("run")
    assert (finished.code, finished.document["charged"]) == (0, 8)
    month.assert_charged_once(bills)
    assert len(month.installation.asked("charges", *bills)) == 8


def test_keys_forgotten_between_send_and_retry(month: BilledMonth) -> None:
    """The provider no longer knows our key when it would be sent again: it is looked up first, and found."""
    (bill,) = month.subscribers(1)
    month.installation.script("charges", "silent_after", match=bill.customer_id)
    assert month.ikkai("run", "--no-wait").document["created"] == 1
    soon(lambda: bool(month.installation.ledger("charges", bill)))
    assert month.installation.operation(bill).state is State.PROCESSING
    month.installation.world.http.post("/_forget_keys").raise_for_status()
    assert month.ikkai("run").document["charged"] == 1
    month.assert_charged_once([bill])
    assert len(month.installation.asked("charges", bill)) == 1


def test_a_dry_run_stores_nothing_and_tells_the_truth(month: BilledMonth) -> None:
    """What it says will be billed is what is billed, to the last yen; until then nothing is there."""
    bills = month.subscribers(3)
    preview = month.ikkai("run", "--dry-run").document
    assert preview == month.report(due=3, total={"JPY": 3 * TOTAL}, dry_run=True, digest=preview["digest"])
    assert month.installation.rows("SELECT FROM bills WHERE month = :month", month=month.month) == []
    assert month.installation.rows("SELECT FROM billing_runs WHERE month = :month", month=month.month) == []
    nothing = month.ikkai("status").document
    assert (nothing["bills"], nothing["total"]) == (0, {})

    month.ikkai("run")
    status = month.ikkai("status").document
    assert (status["digest"], status["total"], status["charged"]) == (preview["digest"], preview["total"], 3)
    again = month.ikkai("run", "--dry-run").document
    assert (again["digest"], again["already"], again["due"]) == (preview["digest"], 3, 3)
    month.assert_charged_once(bills)


def test_a_declined_card_is_tried_again_on_purpose_only(month: BilledMonth) -> None:
    """Exit 1, and runs leave it alone; `retry` cancels the declined payment and charges under the next key."""
    installation = month.installation
    (good,), (bad,) = month.subscribers(1), month.subscribers(1, payment_method=DECLINED)
    for created in (2, 0):
        finished = month.ikkai("run")
        counts = {"created": created, "already": 2 - created, "charged": 1, "declined": 1}
        assert (finished.code, finished.document) == (1, month.report(due=2, total={"JPY": 2 * TOTAL}, **counts))
    assert len(installation.asked("charges", bad)) == 1
    (waiting,) = month.ikkai("status").document["waiting"]
    assert (waiting["customer_id"], waiting["state"], waiting["key"]) == (bad.customer_id, "refused", bad.key)
    assert "declined" in waiting["reason"]

    refused = month.ikkai("retry", "--customer", good.customer_id)
    assert refused.code == 1
    assert "only a declined one" in refused.document["error"]

    card = {"customer_id": bad.customer_id, "payment_method": "pm_card_visa"}
    installation.container.update_customers().execute([card])
    retried = month.ikkai("retry", "--customer", bad.customer_id)
    assert (retried.code, retried.document["state"], retried.document["key"]) == (0, "completed", f"{bad.key}:2")
    rows = installation.world.http.get("/_ledger", params={"customer_id": bad.customer_id}).json()["charges"]
    assert [(row["key"], row["status"]) for row in rows] == [(bad.key, "canceled"), (f"{bad.key}:2", "succeeded")]
    assert month.ikkai("run").code == 0
    assert month.ikkai("retry", "--customer", bad.customer_id).code == 1


def test_a_declined_payment_that_was_made_after_all_is_not_made_twice(month: BilledMonth) -> None:
    """Confirmed at the bank meanwhile: `retry` cannot cancel it, so nothing is charged; a person looks."""
    installation = month.installation
    (bill,) = month.subscribers(1, payment_method="pm_card_threeDSecure2Required")
    assert month.ikkai("run").code == 1
    (intent,) = installation.ledger("charges", bill)
    installation.world.http.post(f"/_charges/{intent['reference']}/succeed").raise_for_status()
    card = {"customer_id": bill.customer_id, "payment_method": "pm_card_visa"}
    installation.container.update_customers().execute([card])
    retried = month.ikkai("retry", "--customer", bill.customer_id)
    assert (retried.code, retried.document["state"]) == (3, "needs_confirmation")
    assert intent["reference"] in retried.document["reason"]
    rows = installation.world.http.get("/_ledger", params={"customer_id": bill.customer_id}).json()["charges"]
    assert [(row["key"], row["status"]) for row in rows] == [(bill.key, "succeeded")]


def test_one_bad_customer_stops_nobody(month: BilledMonth) -> None:
    """Who has no payment method is named, with the reason, and is billed as soon as there is one."""
    installation = month.installation
    good, (bad,) = month.subscribers(2), month.subscribers(1)
    installation.container.update_customers().execute([{"customer_id": bad.customer_id, "payment_method": None}])
    finished = month.ikkai("run")
    (failure,) = finished.document["failed"]
    assert (finished.code, failure["customer_id"], finished.document["charged"]) == (1, bad.customer_id, 2)
    assert "payment_method" in failure["reason"]
    card = {"customer_id": bad.customer_id, "payment_method": "pm_card_visa"}
    installation.container.update_customers().execute([card])
    finished = month.ikkai("run")
    assert (finished.code, finished.document["created"], finished.document["charged"]) == (0, 1, 3)
    month.assert_charged_once([*good, bad])


def test_only_the_customers_asked_for(month: BilledMonth) -> None:
    """`--customer` bills that one; nobody else of the month has a bill until the run of all."""
    bills = month.subscribers(3)
    one = ("--customer", bills[0].customer_id)
    for created in (1, 0):
        finished = month.ikkai("run", *one)
        assert finished.code == 0
        assert (finished.document["due"], finished.document["created"], finished.document["charged"]) == (1, created, 1)
    assert month.installation.ledger("charges", *bills[1:]) == []
    assert month.ikkai("run").document["created"] == 2
    month.assert_charged_once(bills)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("run", "2199-12"), 2),  # not ended
        (("run", "2026-13"), 2),
        (("run", "September"), 2),
        (("run", ""), 2),
        (("run",), 2),
        (("run", "2026-09", "--customer", "nobody"), 1),
        (("run", "2026-09", "--customer", ""), 2),
        (("run", "2199-12", "--dry-run"), 2),
        (("status", "2026-00"), 2),
        (("status", "2199-12"), 0),
        (("retry", "2026-09", "--customer", "nobody"), 1),
        (("retry", "2026-09"), 2),
    ],
    ids=str,
)
def test_exit_codes(installation: Installation, arguments: tuple[str, ...], code: int) -> None:
    """2 for what cannot be, 1 for what is refused, and nothing stored; a look at an empty month is no mistake."""
    before = installation.rows("SELECT count(*) FROM billing_runs")
    finished = installation.ikkai("billing", *arguments)
    assert finished.code == code, finished
    assert "Traceback" not in finished.err
    assert code == 0 or finished.err.strip()
    assert installation.rows("SELECT count(*) FROM billing_runs") == before


def test_the_bill_is_explained(month: BilledMonth) -> None:
    """Who asks about a customer sees the bill, its number and its charge."""
    (bill,) = month.subscribers(1)
    month.ikkai("run")
    told = month.installation.ikkai("explain", "customer", bill.customer_id, "--json").out
    for part in (bill.month, bill.key, str(TOTAL)):
        assert part in told
    assert _story(month.installation, bill) == ["claimed", "sent", "completed"]


def _story(installation: Installation, bill: Bill) -> list[str]:
    return [step.partition(" ")[0] for step in installation.story(bill)]
