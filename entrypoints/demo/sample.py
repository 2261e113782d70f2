"""Order events as a shop would send them, with the doubles that a queue makes of them."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

FIRST_EVENT: Final = datetime(2026, 10, 1, tzinfo=UTC)
ORDERS_PER_CUSTOMER: Final = 4
POINTS: Final = 100


@dataclass(frozen=True)
class Sample:
    """A reproducible set of deliveries; `redeliver` is the share of them that come more than once."""

    events: int
    redeliver: float
    seed: int = 1

    @property
    def customers(self) -> list[str]:
        """Everybody who orders."""
        return [self._customer(number) for number in range(1, self._different_customers + 1)]

    @property
    def _different_customers(self) -> int:
        return max(1, self.events // ORDERS_PER_CUSTOMER)

    def _customer(self, number: int) -> str:
        return f"c-{number % self._different_customers}"

    def first(self) -> Iterator[dict[str, Any]]:
        """One confirmed order per event."""
        return map(self._confirmed, range(1, self.events + 1))

    def again(self) -> Iterator[dict[str, Any]]:
        """Deliveries beyond the first: every other one the same message, the rest the same fact under a new id."""
        chance = random.Random(self.seed)
        for repetition in range(round(self.events * self.redeliver)):
            event = self._confirmed(chance.randint(1, self.events))
            yield event if repetition % 2 else {**event, "id": f"{event['id']}-again-{repetition}"}

    def _confirmed(self, number: int) -> dict[str, Any]:
        return {
            "specversion": "1.0",
            "source": "demo-shop",
            "id": f"confirmed-{number}",
            "type": "order.confirmed",
            "time": (FIRST_EVENT + timedelta(seconds=number)).isoformat(),
            "data": {
                "order_id": f"o-{number}",
                "customer_id": self._customer(number),
                "currency": "JPY",
                "total": 10_000,
                "points": POINTS,
                "ship_to": {
                    "name": "山田 太郎",
                    "country": "JP",
                    "postal_code": "100-0001",
                    "line1": f"千代田{number}-1",
                },
            },
        }
