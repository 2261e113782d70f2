"""An order cancelled while its parcel is on its way to a carrier that will not take it now (report B44; trap 12)."""

import signal
from collections.abc import Iterator

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.crash.strikes import parcel, strike
from tests.crash.worker import ANSWERED
from tests.e2e.installation import Installation, confirmed, running_installation, soon
from tests.entrypoints.sandbox.world import Parcel


@pytest.fixture(params=[True, False], ids=["with keys", "without keys"])
def installation(servers: ServerUrls, template: str, request: pytest.FixtureRequest) -> Iterator[Installation]:
    with running_installation(servers, template, honours_keys=request.param) as installation:
        yield installation


def test_a_cancel_beside_a_throttled_request_is_not_lost(installation: Installation) -> None:
    """Asked for, told "later", cancelled before that was written: whatever is asked next, no parcel is left booked."""
    errand = parcel(installation)
    installation.script("shipments", "status_429", match=errand.subject)
    worker = strike(installation, [errand], ANSWERED, signal.SIGSTOP)
    installation.container.accept_order_events().execute([_cancelled(errand.subject)])
    installation.container.apply_order_events().execute()
    worker.signal(signal.SIGCONT)
    soon(lambda: installation.operation(errand).state is not State.PROCESSING)

    installation.start_dispatcher()
    states = "SELECT DISTINCT state FROM operations WHERE subject = :order"
    final = [(State.COMPLETED,), (State.REFUSED,)]
    soon(lambda: all(state in final for state in installation.rows(states, order=errand.subject)))
    assert [row["status"] for row in errand.done(installation)] in ([], ["cancelled"])
    (shown,) = installation.ikkai("shipments", "list", "--order", errand.subject, "--json").document
    assert shown["state"] != "booked"


def _cancelled(order_id: str) -> dict[str, object]:
    event = confirmed(Parcel(order_id), event_id=f"cancelled-{order_id}")
    later = {"type": "order.cancelled", "time": "2026-10-04T12:34:56+09:00"}
    return event | later | {"data": {"order_id": order_id, "revision": 2}}
