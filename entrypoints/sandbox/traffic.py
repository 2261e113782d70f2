"""Which requests the outside world saw, so that a test can say "it was asked exactly once"."""

from collections import Counter, deque
from dataclasses import dataclass
from typing import Any, Final

KEPT_REQUESTS: Final = 10_000  # the list is for reading; the counts stay exact beyond it


@dataclass(frozen=True, slots=True)
class Subject:
    """What a request is about, as far as it tells.

    Key: `idempotency_key` is what the client sent in the header, `key` the reference it gave the work,
    `reference` the provider's own name for it.
    """

    key: str | None = None
    idempotency_key: str | None = None
    order_id: str | None = None
    customer_id: str | None = None
    reference: str | None = None

    def is_named_by(self, part: str) -> bool:
        """Whether one of the names contains this part; an empty part is in every request, whatever it tells."""
        names = (self.idempotency_key, self.key, self.order_id, self.customer_id, self.reference)
        return not part or any(part in name for name in names if name)


@dataclass(slots=True)
class SeenRequest:
    """One request as it came in; `status` stays None while it runs and for ever if no answer was sent."""

    target: str
    method: str
    subject: Subject
    fault: str | None = None
    status: int | None = None

    def row(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "method": self.method,
            "key": self.subject.idempotency_key or self.subject.key,
            "order_id": self.subject.order_id,
            "customer_id": self.subject.customer_id,
            "fault": self.fault,
            "status": self.status,
        }


class Traffic:
    """Every request counted, the last ones kept."""

    def __init__(self) -> None:
        self._kept: deque[SeenRequest] = deque(maxlen=KEPT_REQUESTS)
        self._counts: Counter[tuple[str, str]] = Counter()

    def note(self, seen: SeenRequest) -> SeenRequest:
        self._kept.append(seen)
        self._counts[seen.target, seen.method] += 1
        return seen

    def report(self, target: str | None, method: str | None) -> dict[str, Any]:
        """Shape: `{"count", "requests": [...]}`, oldest first; None = all targets, all methods."""

        def wanted(of_target: str, by_method: str) -> bool:
            return target in (None, of_target) and method in (None, by_method)

        count = sum(seen for (of_target, by_method), seen in self._counts.items() if wanted(of_target, by_method))
        return {"count": count, "requests": [r.row() for r in self._kept if wanted(r.target, r.method)]}
