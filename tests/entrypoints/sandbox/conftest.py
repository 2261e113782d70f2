"""Worlds shared by the tests of this folder; orders are never shared, and scripted faults end with their test."""

from collections.abc import Iterator

import pytest

from tests.entrypoints.sandbox.paying import Bill, Cashier
from tests.entrypoints.sandbox.world import Parcel, World, running_world


@pytest.fixture(scope="session")
def shared_world() -> Iterator[World]:
    with running_world() as world:
        yield world


@pytest.fixture(scope="session")
def shared_keyless_world() -> Iterator[World]:
    with running_world("--no-carrier-keys", "--no-stripe-keys") as world:
        yield world


@pytest.fixture
def world(shared_world: World) -> Iterator[World]:
    yield shared_world
    shared_world.http.delete("/_faults")


@pytest.fixture
def keyless_world(shared_keyless_world: World) -> Iterator[World]:
    yield shared_keyless_world
    shared_keyless_world.http.delete("/_faults")


@pytest.fixture
def parcel() -> Parcel:
    return Parcel()


@pytest.fixture
def cashier(world: World) -> Iterator[Cashier]:
    with Cashier(world) as cashier:
        yield cashier


@pytest.fixture
def keyless_cashier(keyless_world: World) -> Iterator[Cashier]:
    with Cashier(keyless_world) as cashier:
        yield cashier


@pytest.fixture
def bill() -> Bill:
    return Bill()
