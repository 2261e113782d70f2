"""The container gives what it promises, and no doorbell rings in an empty house."""

from collections.abc import Iterator

import dramatiq
import pytest
from dependency_injector import providers

from entrypoints.actors.register import register_actors
from entrypoints.container import Container
from entrypoints.settings import Settings
from entrypoints.work import RING_ACTORS


@pytest.fixture
def container(database_url: str, broker_url: str) -> Iterator[Container]:
    """A container on real servers."""
    container = Container(settings=Settings(database_url=database_url, broker_url=broker_url))
    yield container
    container.engine().dispose()


def test_the_container_builds_every_provider(container: Container) -> None:
    """Nothing is wired wrongly that only one command would notice."""
    names = [name for name, provider in Container.providers.items() if isinstance(provider, providers.Singleton)]
    built = {name: getattr(container, name)() for name in names}
    assert len(built) > 20
    assert all(thing is not None for thing in built.values())


def test_every_actor_is_on_its_contexts_queue_and_consumed(container: Container) -> None:
    """A worker consumes every declared queue, so an actor elsewhere would wait for ever."""
    broker = register_actors(container, threads=2)
    worker = dramatiq.Worker(broker, worker_threads=1, worker_timeout=50)
    worker.start()
    try:
        for name, actor in broker.actors.items():
            assert actor.queue_name == name.partition(".")[0]
            assert actor.queue_name in worker.consumers
    finally:
        worker.stop()


def test_every_doorbell_has_an_actor(container: Container) -> None:
    """What the dispatcher rings for is answered."""
    assert set(RING_ACTORS.values()) <= set(register_actors(container, threads=2).actors)


def test_registering_actors_twice_is_harmless(container: Container) -> None:
    """A module imported twice must not make two of anything (B19)."""
    first = set(register_actors(container, threads=2).actors)
    assert set(register_actors(container, threads=2).actors) == first


def test_the_contracts_actors_are_there(container: Container) -> None:
    """The names that producers send to (contract section 4), as far as their contexts are built."""
    actors = set(register_actors(container, threads=2).actors)
    assert {
        "orders.process_event",
        "points.grant_order_points",
        "shipping.request_shipment",
        "billing.bill_customer",
        "payments.refund",
    } <= actors
