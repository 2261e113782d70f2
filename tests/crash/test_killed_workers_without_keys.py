"""SIGKILL at every boundary of a request, at providers that know no keys: never asked twice (B25, B40, B42)."""

import signal
from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.crash.strikes import CHARGE, PARCEL, REFUND, SENT, Errand, of_each_kind, strike
from tests.crash.worker import ANSWERED, CLAIMED, GATED, HANDED_OVER, SETTLED
from tests.e2e.installation import Installation, running_installation

SURE = (SENT, CLAIMED, ANSWERED, SETTLED)  # never sent, or to be found at the provider
LOST = (GATED, HANDED_OVER)  # marked as sent and to be found nowhere: nobody but a person can tell
KINDS = (PARCEL, CHARGE, REFUND)
BY = ("--by", "mika", "--evidence", "asked by phone")

Errands = dict[str, dict[str, Errand]]


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template, honours_keys=False) as installation:
        yield installation


@pytest.fixture(scope="module")
def errands(installation: Installation) -> Errands:
    """One of each kind for each point at which its worker was killed; by now a healthy worker is there."""
    errands = {point: of_each_kind(installation) for point in (*SURE, *LOST)}
    for point, of_kinds in errands.items():
        strike(installation, list(of_kinds.values()), point, signal.SIGKILL)
    installation.start_dispatcher()
    installation.start_worker(threads=4)
    return errands


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("point", SURE)
def test_what_can_be_found_needs_no_person(installation: Installation, errands: Errands, point: str, kind: str) -> None:
    """Surely never sent, or known to the provider: completed by itself, after one request at most."""
    errand = errands[point][kind]
    installation.wait_for(State.COMPLETED, errand)
    assert len(errand.done(installation)) == len(errand.asked(installation)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_found_by_look_up_is_told(installation: Installation, errands: Errands, kind: str) -> None:
    """Who asks why it is done learns that it was looked up, and whose decision that was."""
    for point in (SENT, ANSWERED):
        installation.wait_for(State.COMPLETED, errands[point][kind])
        assert installation.story(errands[point][kind])[-1] == "decided: completed found by look-up; look-up"


@pytest.mark.parametrize("kind", KINDS)
def test_a_person_says_that_it_did_not_happen(installation: Installation, errands: Errands, kind: str) -> None:
    """Marked as sent, not found: waits for a person, is not asked for again; "did not happen" makes it owed again."""
    errand = errands[GATED][kind]
    installation.wait_for(State.NEEDS_CONFIRMATION, errand)
    assert errand.asked(installation) == []
    assert installation.ikkai("operations", "retry", errand.key).code == 1
    decided = installation.ikkai("operations", "resolve", errand.key, "--did-not-happen", *BY, "--json")
    assert (decided.code, decided.document["state"]) == (0, "ready")
    installation.wait_for(State.COMPLETED, errand)
    assert len(errand.done(installation)) == len(errand.asked(installation)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_person_says_that_it_happened(installation: Installation, errands: Errands, kind: str) -> None:
    """ "It happened" settles it under the provider's reference, with who says so and why, and nothing is sent."""
    errand = errands[HANDED_OVER][kind]
    installation.wait_for(State.NEEDS_CONFIRMATION, errand)
    decision = ("--happened", f"P-{errand.subject}", *BY)
    assert installation.ikkai("operations", "resolve", errand.key, *decision).code == 0
    assert installation.operation(errand).result["reference"] == f"P-{errand.subject}"
    assert errand.asked(installation) == []
    assert installation.story(errand)[-1] == "decided: completed confirmed by hand; asked by phone"
    assert installation.ikkai("operations", "resolve", errand.key, *decision).code == 1


def test_what_a_person_says_is_seen_by_everybody(installation: Installation, errands: Errands) -> None:
    """The parcel is booked, the bill charged, the refund given back, wherever somebody looks."""
    lost = errands[HANDED_OVER]
    installation.wait_for(State.COMPLETED, *lost.values())
    parcel, charge, refund = lost[PARCEL], lost[CHARGE], lost[REFUND]
    (shipment,) = installation.ikkai("shipments", "list", "--order", parcel.subject, "--json").document
    assert (shipment["state"], shipment["reference"]) == ("booked", f"P-{parcel.subject}")
    billed = installation.ikkai("explain", "customer", charge.subject, "--json").out
    assert charge.key in billed
    asked = ("--customer", refund.subject, "--month", str(refund.content["month"]))
    again = installation.ikkai("refunds", "request", "--refund", refund.content["refund_id"], *asked, "--json")
    assert (again.code, again.document["state"]) == (0, "succeeded")
