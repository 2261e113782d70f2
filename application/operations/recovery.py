"""Looking after what is left: the leases of dead workers, and outcomes that nobody knows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from application.operations.perform import FOUND, OperationBooks, Performer
from application.transactions import Transactions
from domain.operations import (
    Finding,
    Operation,
    Policy,
    RetryPolicy,
    State,
    Step,
    after_unknown,
)


class SweepLeases:
    """Frees what dead workers held: never sent, it is due again; perhaps sent, its policy decides."""

    def __init__(
        self, transactions: Transactions[OperationBooks], policies: Mapping[str, Policy], retry_policy: RetryPolicy
    ) -> None:
        self._transactions = transactions
        self._policies = policies
        self._retry_policy = retry_policy

    def execute(self, limit: int = 500) -> int:
        """Returns: how many leases were over."""

        def sweep(books: OperationBooks) -> int:
            expired = books.operations.expired(limit)
            return len(books.operations.settle_each([(operation, self._step(operation)) for operation in expired]))

        return self._transactions.run(sweep)

    def _step(self, operation: Operation) -> Step:
        if operation.sent_at is None:
            return Step(State.READY, "its worker ended before sending", worker_died=True)
        reason = "its worker ended after sending"
        step = after_unknown(operation, reason, self._policies.get(operation.kind, Policy.CONFIRM), self._retry_policy)
        return replace(step, worker_died=True)


class ReconcileUnknowns:
    """Looks up, again and again, what waits for a person: what is found is completed without one."""

    def __init__(
        self,
        transactions: Transactions[OperationBooks],
        performers: Sequence[Performer],
        *,
        every_seconds: float = 60.0,
    ) -> None:
        self._transactions = transactions
        self._performers = performers
        self._every_seconds = every_seconds

    def execute(self, limit: int = 50) -> int:
        """Returns: how many were found and completed."""
        return sum(self._reconcile(performer, limit) for performer in self._performers)

    def _reconcile(self, performer: Performer, limit: int) -> int:
        waiting = self._transactions.run(lambda books: books.operations.unconfirmed([performer.kind], limit))
        if not waiting:
            return 0
        self._transactions.assert_none_open()
        steps = []
        for operation, look_up in zip(waiting, performer.look_up_each(waiting), strict=True):
            match look_up.finding:
                case Finding.FOUND:
                    step = Step(State.COMPLETED, look_up.reason or FOUND, look_up.result)
                case Finding.REFUSED:
                    step = Step(State.REFUSED, look_up.reason, look_up.result)
                case Finding.FLAGGED:
                    step = Step(operation.state, look_up.reason, flagged=True)
                case Finding.NO_ANSWER:
                    step = Step(operation.state, operation.reason, wait_seconds=self._every_seconds / 10)
                case _:
                    step = Step(operation.state, operation.reason, wait_seconds=self._every_seconds)
            steps.append((operation, step))
        written = set(self._transactions.run(lambda books: books.operations.confirm_each(steps)))
        return sum(operation.key in written and step.state is State.COMPLETED for operation, step in steps)
