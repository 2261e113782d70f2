"""What people decide of operations, and what they see of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from application.operations.perform import OperationBooks
from application.transactions import Transactions
from domain.errors import Malformed, Refused
from domain.operations import KINDS, Operation, State, Step


class DecideOperation:
    """What a person decides: to try parked work again, or what became of a send of unknown fate."""

    def __init__(self, transactions: Transactions[OperationBooks]) -> None:
        self._transactions = transactions

    def retry(self, key: str, *, by: str) -> None:
        """Makes parked work due again under its key. Raises: Refused in any other state."""

        def choose(operation: Operation) -> Step:
            if operation.state is State.NEEDS_CONFIRMATION:
                raise Refused(f"{key} may have happened; settle it with: operations resolve {key}")
            if operation.state is not State.PARKED:
                raise Refused(f"{key} is {operation.state}, not parked")
            return Step(State.READY, "retried by hand")

        self._decide(key, choose, by=by, evidence="retry")

    def resolve(self, key: str, *, reference: str | None, by: str, evidence: str) -> Operation:
        """Settles an unknown outcome: it happened, under the provider's `reference`, or (none) it did not.

        What did not happen is owed, and due again; where the provider's own answer asked for a person, it is closed.
        Raises: Refused unless the operation needs confirmation.
        """

        def choose(operation: Operation) -> Step:
            if operation.state is not State.NEEDS_CONFIRMATION:
                raise Refused(f"{key} is {operation.state}; only what needs confirmation can be resolved")
            if reference is not None:
                return Step(State.COMPLETED, "confirmed by hand", {**operation.result, "reference": reference})
            if operation.flagged:
                return Step(State.REFUSED, "did not happen, and will not under this key")
            return Step(State.READY, "did not happen; owed again", unsent=True)

        return self._decide(key, choose, by=by, evidence=evidence)

    def _decide(self, key: str, choose: Callable[[Operation], Step], *, by: str, evidence: str) -> Operation:
        decided_at: list[int] = []  # the epoch at which an earlier run of the unit decided

        def decide(books: OperationBooks) -> Operation:
            operation = _locked(books, key)
            if decided_at and operation.epoch > decided_at[0] and _stands(books.operations.story(key), by, evidence):
                return operation  # that run's COMMIT was answered by silence, but it stands
            step = choose(operation)
            decided_at[:] = [operation.epoch]
            books.operations.decide(key, operation.state, step, by=by, evidence=evidence)
            return _locked(books, key)

        return self._transactions.run(decide)


def _stands(story: Sequence[Mapping[str, Any]], by: str, evidence: str) -> bool:
    """Whether this person's decision is written down."""
    return any(
        line["what"].startswith("decided") and line["who"] == by and str(line["detail"]).endswith(evidence)
        for line in story
    )


def _locked(books: OperationBooks, key: str) -> Operation:
    operation = books.operations.get(key, lock=True)
    if operation is None:
        raise Refused(f"no operation {key} is known", field="key")
    return operation


class ReadOperations:
    """Operations to look at: which there are, and the story of each."""

    def __init__(self, transactions: Transactions[OperationBooks]) -> None:
        self._transactions = transactions

    def find(
        self, *, state: str | None = None, kind: str | None = None, subject: str | None = None, limit: int | None = None
    ) -> Sequence[Operation]:
        """Raises: Malformed for a state or kind that does not exist."""
        if state is not None and state not in list(State):
            raise Malformed("state", f"must be one of {', '.join(State)}")
        if kind is not None and kind not in KINDS:
            raise Malformed("kind", f"must be one of {', '.join(KINDS)}")
        states = [] if state is None else [State(state)]
        kinds = [] if kind is None else [kind]
        return self._transactions.run(
            lambda books: books.operations.find(states=states, kinds=kinds, subject=subject, limit=limit)
        )

    def waiting_for_a_person(self) -> bool:
        """Whether anything is parked or needs confirmation."""
        states = [state for state in State if state.waits_for_a_person]
        return bool(self._transactions.run(lambda books: books.operations.find(states=states, limit=1)))

    def get(self, key: str) -> Operation:
        """Raises: Refused for an unknown key."""

        def read(books: OperationBooks) -> Operation:
            operation = books.operations.get(key)
            if operation is None:
                raise Refused(f"no operation {key} is known", field="key")
            return operation

        return self._transactions.run(read)

    def story(self, key: str) -> Sequence[Mapping[str, Any]]:
        """Attempts and decisions of one operation, in order of time."""
        return self._transactions.run(lambda books: books.operations.story(key))

    def due(self, kinds: Sequence[str]) -> Mapping[str, int]:
        """How much of each kind is due now."""
        return self._transactions.run(lambda books: books.operations.due(kinds))
