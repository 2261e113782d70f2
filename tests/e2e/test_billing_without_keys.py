"""A provider that knows no keys: nothing is asked for twice, and a person ends what no look-up proves (B25, B40)."""

from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.e2e.installation import Installation, running_installation
from tests.e2e.months import BilledMonth, RefundOf

BLIND = 'body_{"object":"list","data":[],"has_more":false}'  # the list does not show what is there
BY = ("--by", "mika", "--evidence", "seen in the dashboard")


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template, honours_keys=False) as installation:
        installation.start_dispatcher()
        installation.start_worker(threads=4)
        yield installation


def test_what_nobody_can_know_waits_for_a_person(installation: Installation) -> None:
    """Exit 3 and the bill is named; what is found needs nobody; "happened" and "did not" end the rest, once each."""
    month = BilledMonth(installation)
    paid, found, lost, blind, mute = month.subscribers(5)
    for bill in (found, blind, mute):
        installation.script("charges", "silent_after", match=bill.customer_id)
    installation.script("charges", "reset_before", match=lost.customer_id)
    installation.script("charges", BLIND, match=f"GET cus_{blind.customer_id}", times=None)
    installation.script("charges", "status_503", match=f"GET cus_{mute.customer_id}", times=None)
    assert month.ikkai("run").code == 3
    installation.wait_for(State.COMPLETED, paid, found)
    installation.wait_for(State.NEEDS_CONFIRMATION, lost, blind, mute)

    report = month.ikkai("run")
    assert (report.code, report.document["charged"], report.document["needs_confirmation"]) == (3, 2, 3)
    waiting = {bill["key"] for bill in month.ikkai("status").document["waiting"]}
    assert waiting == {lost.key, blind.key, mute.key}
    assert month.ikkai("retry", "--customer", blind.customer_id).code == 1
    assert len(installation.asked("charges", paid, found, lost, blind, mute)) == 5

    for bill in (blind, mute):
        (row,) = installation.ledger("charges", bill)
        decision = ("--happened", row["reference"], *BY)
        assert installation.ikkai("operations", "resolve", bill.key, *decision).code == 0
    assert installation.ikkai("operations", "resolve", lost.key, "--did-not-happen", *BY).code == 0
    finished = month.ikkai("run")
    assert (finished.code, finished.document["charged"], finished.document["needs_confirmation"]) == (0, 5, 0)
    month.assert_charged_once([paid, found, lost, blind, mute])


def test_refunds_of_unknown_fate_are_not_sent_twice(installation: Installation) -> None:
    """Silent, and found in the list: done. Silent, and not in the list: 3, nothing more is sent, a person ends it."""
    month = BilledMonth(installation)
    bills = month.subscribers(2)
    found, blind = map(RefundOf, bills)
    assert month.ikkai("run").code == 0
    _ask_in_silence(installation, found, looked_up="status_503")
    installation.world.http.delete("/_faults").raise_for_status()
    installation.wait_for(State.COMPLETED, found)
    _ask_in_silence(installation, blind, looked_up=BLIND)
    installation.wait_for(State.NEEDS_CONFIRMATION, blind)
    assert installation.ikkai(*blind.words(500)).code == 3

    (back,) = installation.ledger("refunds", blind)
    decision = ("--happened", back["reference"], *BY)
    assert installation.ikkai("operations", "resolve", blind.key, *decision).code == 0
    for refund in (found, blind):
        answer = installation.ikkai(*refund.words(500))
        assert (answer.code, answer.document["state"]) == (0, "succeeded")
        assert len(installation.ledger("refunds", refund)) == len(installation.asked("refunds", refund)) == 1


def _ask_in_silence(installation: Installation, refund: RefundOf, *, looked_up: str) -> None:
    """Asks for a refund that the world makes and does not answer. Look-ups fail so, however slow the command is."""
    (paid,) = installation.ledger("charges", refund.bill)
    installation.script("refunds", "silent_after", match=refund.bill.customer_id)
    installation.script("refunds", looked_up, match=f"GET {paid['reference']}", times=None)
    answer = installation.ikkai(*refund.words(500))
    assert (answer.code, answer.document["state"]) == (3, "requested")
