"""The view from above: health, ledger, record of requests; and the process itself."""

import asyncio
import signal
import socket
import subprocess
import sys
import time
from unittest import mock

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from entrypoints.sandbox.app import SandboxOptions, build_app, loopback_only
from tests.entrypoints.sandbox.paying import Bill, Cashier
from tests.entrypoints.sandbox.world import ROOT, Parcel, World, running_world, until


def test_the_world_says_that_it_is_well(world: World) -> None:
    """Whoever starts the sandbox can wait for it."""
    assert world.http.get("/_health").status_code == 200


def test_the_ledger_has_the_shape_of_the_contract() -> None:
    """A fresh world has all four lists, and nothing in them."""
    with running_world() as fresh_world:
        assert fresh_world.http.get("/_ledger").json() == {"charges": [], "refunds": [], "shipments": [], "mails": []}
        none = {"rows": 0, "keys": 0, "twice": 0}
        summary = fresh_world.http.get("/_ledger/summary").json()
        assert summary == {"charges": none, "refunds": none, "shipments": none}


def test_the_summary_counts_what_stands() -> None:
    """Three parcels under one key are one key booked twice; what was cancelled no longer counts."""
    with running_world("--no-carrier-keys") as fresh_world:
        thrice, once, cancelled = Parcel(), Parcel(), Parcel()
        for parcel in (thrice, thrice, thrice, once):
            fresh_world.booked(parcel)
        fresh_world.cancel(cancelled, fresh_world.booked(cancelled)["reference"])
        summary = fresh_world.http.get("/_ledger/summary").json()
        assert summary["shipments"] == {"rows": 4, "keys": 2, "twice": 1}
        assert len(fresh_world.http.get("/_ledger").json()["shipments"]) == 5


def test_a_part_of_the_ledger_is_one_orders_or_one_customers(cashier: Cashier, bill: Bill, parcel: Parcel) -> None:
    """An order has parcels, a customer has charges and refunds, and neither shows a stranger's."""
    cashier.world.booked(parcel)
    cashier.refund(cashier.paid(bill), bill.key)
    cashier.refund(cashier.paid(Bill()), parcel.key)

    def rows(**of: str) -> dict[str, int]:
        return {kind: len(found) for kind, found in cashier.get("/_ledger", **of).items()}

    assert rows(order_id=parcel.order_id) == {"charges": 0, "refunds": 0, "shipments": 1, "mails": 0}
    assert rows(customer_id=bill.customer_id) == {"charges": 1, "refunds": 1, "shipments": 0, "mails": 0}


def test_every_request_is_counted_and_told_apart() -> None:
    """A test can say that the carrier was asked exactly once, and by whom."""
    with running_world() as fresh_world:
        parcel = Parcel()
        fresh_world.booked(parcel)
        fresh_world.found(parcel)
        report = fresh_world.http.get("/_requests", params={"target": "shipments"}).json()
        row: dict[str, object] = {"target": "shipments", "key": parcel.key, "order_id": parcel.order_id}
        row |= {"customer_id": None, "fault": None}
        assert report == {
            "count": 2,
            "requests": [row | {"method": "POST", "status": 201}, row | {"method": "GET", "status": 200}],
        }
        posts = fresh_world.http.get("/_requests", params={"target": "shipments", "method": "POST"}).json()
        assert posts == {"count": 1, "requests": report["requests"][:1]}
        assert fresh_world.http.get("/_requests").json()["count"] == 2
        assert fresh_world.http.get("/_requests", params={"target": "mail"}).json() == {"count": 0, "requests": []}


def test_a_refused_request_is_seen_too(world: World, parcel: Parcel) -> None:
    """A request without a token or with a bad body was made all the same."""
    world.book(parcel, number=0)
    assert [(row["status"], row["order_id"]) for row in world.seen(parcel)] == [(422, None)]


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_at_once(ending: signal.Signals, parcel: Parcel) -> None:
    """Neither a silent connection nor a promise nor a drip keeps the sandbox from ending cleanly."""
    with running_world() as fresh_world:
        fresh_world.script("silent_after", parcel.order_id)
        dripping, promised = Parcel(), Parcel()
        fresh_world.script("slow", dripping.order_id)
        fresh_world.script("status_202_600", promised.order_id)
        assert fresh_world.book(promised).status_code == 202
        with fresh_world.raw_booking(parcel), fresh_world.raw_booking(dripping) as connection:
            assert connection.recv(1) == b"H"
            until(lambda: len(fresh_world.ledger(parcel)) == 1)
            began = time.monotonic()
            fresh_world.process.send_signal(ending)
            rest, _ = fresh_world.process.communicate(timeout=5)
        assert time.monotonic() - began < 2
        assert (fresh_world.process.returncode, rest) == (0, "")


def test_a_taken_port_is_said_in_one_line() -> None:
    """Starting where somebody listens already fails with the address, not with a traceback."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "entrypoints.sandbox", "--port", port]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"cannot listen on 127.0.0.1:{port}")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(("address", "status"), [("127.0.0.1", 200), ("192.0.2.1", 403)])
def test_the_world_answers_on_loopback_only(address: str, status: int) -> None:
    """Even bound elsewhere by mistake the application serves nobody from outside."""

    async def serve(_: web.Request) -> web.StreamResponse:
        return web.Response()

    transport = mock.Mock()
    transport.get_extra_info.side_effect = {"sockname": (address, 8900)}.get
    request = make_mocked_request("GET", "/_ledger", transport=transport, app=build_app(SandboxOptions()))
    assert asyncio.run(loopback_only(request, serve)).status == status
