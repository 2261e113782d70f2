"""The sandbox as a real process, and the few things a test says to it."""

import json
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[3]
AUTHORISED = {"Authorization": "Bearer token"}
SHIP_TO = {"name": "山田 太郎", "country": "JP", "postal_code": "100-0001", "line1": "千代田1-1"}


@dataclass(frozen=True)
class Parcel:
    """One parcel to book, of an order that no other test knows."""

    order_id: str = field(default_factory=lambda: f"o-{uuid.uuid4().hex[:12]}")

    @property
    def key(self) -> str:
        return f"shipment-request:{self.order_id}"

    @property
    def cancel_key(self) -> str:
        return f"shipment-cancel:{self.order_id}"

    def body(self, **other: Any) -> dict[str, Any]:
        return {
            "client_reference": self.key,
            "order_id": self.order_id,
            "number": 1,
            "ship_to": SHIP_TO,
        } | other


class World:
    """A running sandbox: the carrier as a client meets it, and the view from above."""

    def __init__(self, url: str, process: "subprocess.Popen[str]") -> None:
        self.url = url
        self.process = process
        self.http = self._client()

    def _client(self) -> httpx.Client:
        # `verify=False` spares each of the many clients the loading of certificates that plain HTTP never uses
        return httpx.Client(base_url=self.url, headers=AUTHORISED, timeout=10, verify=False)

    def book(self, parcel: Parcel, **other: Any) -> httpx.Response:
        """One POST on a connection of its own, so that a broken one harms no other request."""
        with self._client() as client:
            return client.post("/shipments", headers={"Idempotency-Key": parcel.key}, json=parcel.body(**other))

    def booked(self, parcel: Parcel) -> dict[str, Any]:
        """Books without a fault, for tests that begin with a parcel."""
        answer = self.book(parcel)
        assert answer.status_code == 201, answer.text
        shipment: dict[str, Any] = answer.json()
        return shipment

    def cancel(self, parcel: Parcel, reference: str) -> httpx.Response:
        return self.http.post(
            f"/shipments/{reference}/cancellation",
            headers={"Idempotency-Key": parcel.cancel_key},
            json={"client_reference": parcel.cancel_key},
        )

    def found(self, parcel: Parcel) -> list[dict[str, Any]]:
        answer = self.http.get("/shipments", params={"client_reference": parcel.key})
        shipments: list[dict[str, Any]] = answer.raise_for_status().json()["shipments"]
        return shipments

    def ledger(self, parcel: Parcel) -> list[dict[str, Any]]:
        answer = self.http.get("/_ledger", params={"order_id": parcel.order_id})
        rows: list[dict[str, Any]] = answer.raise_for_status().json()["shipments"]
        return rows

    def seen(self, parcel: Parcel, method: str = "POST") -> list[dict[str, Any]]:
        report = self.http.get("/_requests", params={"target": "shipments", "method": method}).json()
        return [row for row in report["requests"] if row["key"] == parcel.key]

    def script(self, fault: str, match: str = "", times: int | None = 1) -> None:
        wish = {"target": "shipments", "match": match, "fault": fault, "times": times}
        self.http.post("/_faults", json=wish).raise_for_status()

    def raw_booking(self, parcel: Parcel) -> socket.socket:
        """A connection on which a whole booking was sent and nothing read yet."""
        content = json.dumps(parcel.body()).encode()
        head = (
            "POST /shipments HTTP/1.1\r\nHost: carrier\r\nAuthorization: Bearer token\r\n"
            f"Idempotency-Key: {parcel.key}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        host, _, port = self.url.removeprefix("http://").partition(":")
        connection = socket.create_connection((host, int(port)), timeout=5)
        connection.sendall(head.encode() + content)
        return connection


@contextmanager
def running_world(*options: str) -> Iterator[World]:
    """Starts `python -m entrypoints.sandbox` on a free port and ends it afterwards."""
    command = [sys.executable, "-m", "entrypoints.sandbox", "--port", "0", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        world = World(json.loads(process.stdout.readline())["url"], process)
        with world.http:
            yield world
    finally:
        process.kill()
        process.communicate()


def until(true: Callable[[], bool], seconds: float = 5.0) -> None:
    """Waits for a fact to become true, and fails if it does not in time."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "did not become true in time"
        time.sleep(0.02)
