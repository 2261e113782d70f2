"""A month to bill: the demo shop's customers as subscribers, some of whose cards are declined."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from application.payments import RequestRefund
from domain.calendar import Month, business_date
from entrypoints.container import Container

PRICE: Final = 980
DECLINES: Final = 25  # every so many'th customer's card is declined
REFUNDED: Final = 10  # every so many'th customer gets some of it back
REFUND: Final = 100
MOST_CUSTOMERS: Final = 5_000  # who are billed in some ten seconds; a larger demo is about its events


@dataclass(frozen=True)
class BilledMonth:
    """The last month that has ended, and who is billed for it."""

    month: Month
    customers: Sequence[str]

    @classmethod
    def of(cls, container: Container, customers: Sequence[str]) -> "BilledMonth":
        """Makes these customers (not more than a few thousand) subscribers of that month."""
        today = business_date(container.clock().now(), container.point_rules().zone)
        billed = cls(Month.of(today).plus(-1), customers[:MOST_CUSTOMERS])
        billed._subscribe(container)
        return billed

    @property
    def paying(self) -> list[str]:
        """Those whose cards are good."""
        return [customer for number, customer in enumerate(self.customers, start=1) if number % DECLINES]

    @property
    def refunded(self) -> list[str]:
        return self.paying[::REFUNDED]

    def refund_each(self, request: RequestRefund) -> None:
        """Asks for a refund per refunded customer; asking again is asking for the same."""
        for customer in self.refunded:
            request.execute(f"refund-{customer}", customer, str(self.month), REFUND)

    def _subscribe(self, container: Container) -> None:
        good = set(self.paying)
        cards: list[dict[str, Any]] = [
            {
                "customer_id": customer,
                "payment_method": "pm_card_visa" if customer in good else "pm_card_chargeDeclined",
                "payment_customer": f"cus_{customer}",
            }
            for customer in self.customers
        ]
        container.update_customers().execute(cards)
        plans: list[dict[str, Any]] = [
            {
                "subscription_id": f"s-{customer}",
                "customer_id": customer,
                "plan": "monthly box",
                "price": PRICE,
                "currency": "JPY",
                "tax_rate": 10,
                "tax_included": False,
                "start": str(self.month.first_day),
            }
            for customer in self.customers
        ]
        container.import_subscriptions().execute(plans)
