"""Operations as operation tests move them along, each step in a transaction of its own."""

from collections.abc import Sequence
from typing import Final

from domain.operations import NewOperation, Operation, Registration, State, Step
from domain.shipping import REQUEST
from tests.contracts.samples import parcel
from tests.contracts.stores import Books, Runner

LEASE_SECONDS: Final = 30.0
MAX_ATTEMPTS: Final = 3


def register(store: Runner, *operations: NewOperation) -> list[Registration]:
    return list(store.run(lambda books: books.operations.register_each(operations)))


def now(store: Runner, key: str) -> Operation:
    """The operation as it stands."""
    operation = store.run(lambda books: books.operations.get(key))
    assert operation is not None
    return operation


def claim(store: Runner, worker: str = "w/1", *, limit: int = 10, key: str | None = None) -> list[Operation]:
    """Claims due parcels, in the order of their keys."""
    claimed = store.run(
        lambda books: books.operations.claim(
            REQUEST, limit, lease_seconds=LEASE_SECONDS, worker=worker, max_attempts=MAX_ATTEMPTS, key=key
        )
    )
    return sorted(claimed, key=lambda operation: operation.key)


def claim_one(store: Runner, worker: str | None = None, *, order_id: str = "o-1") -> Operation:
    """The parcel of one order, registered where it is not yet, and claimed."""
    register(store, parcel(order_id))
    (operation,) = claim(store, worker or f"worker of {order_id}", key=parcel(order_id).key)
    return operation


def gate(store: Runner, *operations: Operation, outlasting_seconds: float = 11.0) -> list[Operation]:
    gated = store.run(
        lambda books: books.operations.gate_each(operations, outlasting_seconds=outlasting_seconds, sent_to="us")
    )
    return sorted(gated, key=lambda operation: operation.key)


def _gated(books: Books, operations: Sequence[Operation], outlasting_seconds: float) -> Sequence[Operation]:
    return books.operations.gate_each(operations, outlasting_seconds=outlasting_seconds, sent_to="us")


def send_one(store: Runner, worker: str | None = None, *, order_id: str = "o-1") -> Operation:
    """The parcel of one order, claimed and gated."""
    (operation,) = gate(store, claim_one(store, worker, order_id=order_id))
    return operation


def settle(store: Runner, operation: Operation, step: Step) -> list[str]:
    return list(store.run(lambda books: books.operations.settle_each([(operation, step)])))


def found(
    store: Runner,
    *,
    states: Sequence[State] = (),
    kinds: Sequence[str] = (),
    subject: str | None = None,
    limit: int | None = None,
) -> list[str]:
    """The keys found."""
    operations = store.run(
        lambda books: books.operations.find(states=states, kinds=kinds, subject=subject, limit=limit)
    )
    return [operation.key for operation in operations]


def needing_confirmation(store: Runner, order_id: str = "o-1") -> Operation:
    """The parcel of one order, sent with an outcome that nobody knows."""
    settle(store, send_one(store, order_id=order_id), Step(State.NEEDS_CONFIRMATION, "silence"))
    return now(store, parcel(order_id).key)


def parked(store: Runner, order_id: str = "o-1") -> Operation:
    """The parcel of one order, given up after as many attempts as are allowed, none of them sent."""
    for _ in range(MAX_ATTEMPTS):
        settle(store, claim_one(store, order_id=order_id), Step(State.READY, "its worker ended before sending"))
    assert claim(store, key=parcel(order_id).key) == []
    return now(store, parcel(order_id).key)
