"""What really happened: parcels and money as the outside world counts them, points as our ledger has them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class Effect:
    """One kind of effect, counted per fact: `twice` and `lost` are facts, not copies."""

    effect: str
    delivered: int
    owed: int
    done: int
    twice: int
    lost: int

    @classmethod
    def counted(cls, effect: str, delivered: int, owed: Iterable[str], happened: Iterable[str]) -> "Effect":
        """From the names of the facts that were owed, and one name per time that one happened."""
        facts, times = set(owed), Counter(happened)
        return cls(
            effect,
            delivered,
            owed=len(facts),
            done=len(times),
            # What happened without being owed is one time too many as well.
            twice=sum(count > 1 or fact not in facts for fact, count in times.items()),
            lost=len(facts - times.keys()),
        )

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Outside:
    """What happened out there, one name per time that it did: orders for parcels, customers for money."""

    parcels: list[str]
    charges: list[str]
    refunds: list[str]

    @classmethod
    def seen(cls, sandbox: str) -> "Outside":
        """Parcels that are not cancelled, charges that succeeded, refunds that did not fail."""
        ledger = httpx.get(f"{sandbox}/_ledger", timeout=60, trust_env=False).json()
        return cls(
            [parcel["order_id"] for parcel in ledger["shipments"] if parcel["status"] != "cancelled"],
            [charge["customer_id"] for charge in ledger["charges"] if charge["status"] == "succeeded"],
            [refund["customer_id"] for refund in ledger["refunds"] if refund["status"] != "failed"],
        )


def tallied(sandbox: str) -> dict[str, int]:
    """How many parcels, charges and refunds there are so far, by what they are called in the outside world."""
    summary = httpx.get(f"{sandbox}/_ledger/summary", timeout=60, trust_env=False).json()
    return {name: int(tally["keys"]) for name, tally in summary.items()}
