"""What the fakes of other machines have in common: a script, a memory for keys, and a diary of what came in."""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.operations import Answer, Finding, LookUp, Operation, Outcome


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """What one request is answered, and whether the machine did the work all the same."""

    answer: Answer
    works: bool


class ScriptedGateway:
    """A machine that honours keys or not, and does as a test has scripted.

    `received` and `looked_up` have the keys in order of arrival, `bodies` the requests; `during_call` and
    `during_look_up` run when the machine has done its work and no answer is back yet.
    """

    account = "ours"

    def __init__(self, *, honours_keys: bool = True) -> None:
        self.received: list[str] = []
        self.bodies: list[str] = []
        self.looked_up: list[str] = []
        self.during_call: Callable[[], None] = lambda: None
        self.during_look_up: Callable[[], None] = lambda: None
        self._honours_keys = honours_keys
        self._remembered: dict[str, tuple[str, Answer]] = {}
        self._answers: defaultdict[str, deque[ScriptedAnswer]] = defaultdict(deque)
        self._look_ups: defaultdict[str, deque[LookUp]] = defaultdict(deque)

    def will_answer(
        self,
        key: str,
        outcome: Outcome,
        *,
        works: bool = False,
        result: Mapping[str, Any] | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        """Scripts the answer to the next request under `key` (further calls: to the ones after it)."""
        answer = Answer(outcome, f"scripted {outcome}", result or {}, retry_after_seconds)
        self._answers[key].append(ScriptedAnswer(answer, works))

    def will_find(self, key: str, finding: Finding, *, result: Mapping[str, Any] | None = None) -> None:
        """Scripts the answer to the next look-up of `key`."""
        self._look_ups[key].append(LookUp(finding, f"scripted {finding}", result or {}))

    def forget_keys(self) -> None:
        """Ages every key out, as providers do when their window is over."""
        self._remembered.clear()

    def _serve(self, operations: Sequence[Operation], work: Callable[[Operation], Answer]) -> list[Answer]:
        """All requests are at the machine before any answer is back."""
        self.received += [operation.key for operation in operations]
        self.bodies += [operation.request for operation in operations]
        answers = [self._answer(operation, work) for operation in operations]
        self.during_call()
        return answers

    def _answer(self, operation: Operation, work: Callable[[Operation], Answer]) -> Answer:
        scripted = self._answers[operation.key].popleft() if self._answers[operation.key] else None
        if scripted is not None and not scripted.works:
            return scripted.answer
        body, honest = self._remembered.get(operation.key, (None, None)) if self._honours_keys else (None, None)
        assert body in (None, operation.request), f"{operation.key} was sent again with another body"
        if honest is None:
            honest = work(operation)
            self._remembered[operation.key] = (operation.request, honest)
        return honest if scripted is None else scripted.answer

    def _find(self, operations: Sequence[Operation], find: Callable[[Operation], LookUp]) -> list[LookUp]:
        self.looked_up += [operation.key for operation in operations]
        findings = [self._look_ups[one.key].popleft() if self._look_ups[one.key] else find(one) for one in operations]
        self.during_look_up()
        return findings
