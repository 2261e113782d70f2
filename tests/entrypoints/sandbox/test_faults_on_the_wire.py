"""Faults of the connection: no whole answer arrives, and only the ledger knows what happened."""

import time

import pytest

from tests.entrypoints.sandbox.world import Parcel, World


def test_reset_before_breaks_the_connection_and_books_nothing(world: World, parcel: Parcel) -> None:
    """A real TCP reset, and the carrier has done nothing."""
    world.script("reset_before", parcel.order_id)
    with world.raw_booking(parcel) as connection, pytest.raises(ConnectionResetError):
        connection.recv(1)
    assert world.ledger(parcel) == []
    world.booked(parcel)


def test_reset_after_breaks_the_connection_once_it_is_booked(world: World, parcel: Parcel) -> None:
    """A real TCP reset, and the parcel is booked: the same key gets its answer."""
    world.script("reset_after", parcel.order_id)
    with world.raw_booking(parcel) as connection, pytest.raises(ConnectionResetError):
        connection.recv(1)
    assert len(world.ledger(parcel)) == 1
    assert world.booked(parcel)["reference"] == world.ledger(parcel)[0]["reference"]
    assert len(world.ledger(parcel)) == 1


def test_close_after_says_goodbye_without_a_word(world: World, parcel: Parcel) -> None:
    """An orderly end of the connection without a byte, and the parcel is booked."""
    world.script("close_after", parcel.order_id)
    with world.raw_booking(parcel) as connection:
        assert connection.recv(1) == b""
    assert len(world.ledger(parcel)) == 1


def test_silent_after_keeps_the_client_waiting(world: World, parcel: Parcel) -> None:
    """The parcel is booked, the connection stays open, no byte comes."""
    world.script("silent_after", parcel.order_id)
    with world.raw_booking(parcel) as connection:
        connection.settimeout(1.0)
        with pytest.raises(TimeoutError):
            connection.recv(1)
    assert len(world.ledger(parcel)) == 1
    assert world.booked(parcel)["order_id"] == parcel.order_id
    assert [row["status"] for row in world.seen(parcel)] == [None, 201]


def test_slow_defeats_every_time_out_per_read(world: World, parcel: Parcel) -> None:
    """Bytes keep coming, one each half second, so only a deadline for the whole call ends it."""
    world.script("slow", parcel.order_id)
    with world.raw_booking(parcel) as connection:
        connection.settimeout(2.0)
        received, began = b"", time.monotonic()
        while len(received.partition(b"\r\n\r\n")[2]) < 4:
            received += connection.recv(1024)
        assert time.monotonic() - began >= 1.0  # three pauses lie between four bytes
    assert received.partition(b"\r\n\r\n")[2].startswith(b'{"re')
    assert len(world.ledger(parcel)) == 1


def test_the_world_goes_on_after_broken_connections(world: World) -> None:
    """A hundred broken connections harm nobody else."""
    world.script("reset_after", "o-", times=100)
    parcels = [Parcel() for _ in range(100)]
    for parcel in parcels:
        with world.raw_booking(parcel) as connection, pytest.raises(ConnectionResetError):
            connection.recv(1)
    assert all(len(world.ledger(parcel)) == 1 for parcel in parcels)
