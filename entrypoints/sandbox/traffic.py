"""Which requests the outside world saw, so that a test can say "it was asked exactly once"."""

from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import Any, Final

KEPT_REQUESTS: Final = 10_000  # the list is for reading; the counts stay exact beyond it


@dataclass(slots=True)
class SeenRequest:
    """One request as it came in; `status` stays None while it runs and for ever if no answer was sent."""

    target: str
    method: str
    key: str | None
    order_id: str | None
    fault: str | None
    status: int | None = None


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
        return {"count": count, "requests": [asdict(r) for r in self._kept if wanted(r.target, r.method)]}
