"""SIGKILL at every boundary of a request, at a carrier that honours keys: one parcel, by itself, soon (B42, B52)."""
import signal
from collections.abc import Iterator, Mapping

import pytest

from adapters.embedded import ServerUrls
from domain.operations import State
from tests.crash.worker import ANSWERED, CLAIMED, GATED, POINT, SETTLED, SIGNAL
from tests.e2e.installation import Installation, running_installation
from tests.entrypoints.sandbox.world import Parcel, until

pytestmark = pytest.mark.xdist_group(__name__)


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        yield installation

def test_x(installation):
    o = Parcel()
    w = installation.start("tests.crash.worker", "--threads", "1", **{POINT: CLAIMED, SIGNAL: "SIGKILL"})
    installation.confirm(o, apply=True)
    installation.send("shipping.request_shipment", order_id=o.order_id)
    until(w.has_ended, 10)
    print(installation.operation(o), installation.story(o))
    assert 0
