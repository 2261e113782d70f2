"""What is billed, in memory."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from domain.billing.periods import Days
from domain.billing.plans import Item, Subscription
from domain.calendar import Month
from domain.errors import LostRace


class InMemoryPlanBook:
    """`PlanBook` over dictionaries; the book of bills writes down here what is on bills."""

    def __init__(self) -> None:
        self.known: dict[str, Subscription] = {}
        self.known_items: dict[str, Item] = {}
        self.unsettled: set[str] = set()
        self.billed_days: defaultdict[str, list[Days]] = defaultdict(list)
        self.billed_in: dict[str, Month] = {}

    def subscriptions(self, subscription_ids: Sequence[str]) -> Mapping[str, Subscription]:
        return {one: self.known[one] for one in subscription_ids if one in self.known}

    def items(self, item_ids: Sequence[str]) -> Mapping[str, Item]:
        return {one: self.known_items[one] for one in item_ids if one in self.known_items}

    def currencies(self, customer_ids: Sequence[str]) -> Mapping[str, str]:
        priced: list[Subscription | Item] = [*self.known.values(), *self.known_items.values()]
        return {one.customer_id: one.price.currency for one in priced if one.customer_id in customer_ids}

    def billed_through(self, subscription_ids: Sequence[str]) -> Mapping[str, date]:
        return {one: max(self.billed_days[one]).last for one in subscription_ids if self.billed_days[one]}

    def save_subscriptions(self, subscriptions: Sequence[Subscription]) -> None:
        for one in subscriptions:
            if replace(self.known.get(one.subscription_id, one), end=one.end) != one:
                raise LostRace("an id was taken meanwhile, for another customer")
            self.known[one.subscription_id] = one
            self.unsettled.add(one.subscription_id)

    def add_items(self, items: Sequence[Item]) -> None:
        for item in items:
            if item.item_id in self.known_items:
                raise LostRace("an id was taken meanwhile, for another customer")
            self.known_items[item.item_id] = item

    def subscriptions_of(self, customer_id: str, month: Month) -> list[Subscription]:
        """Those that may have days in the month's period, or days that are missing on earlier bills."""
        since = month.plus(-1).first_day
        found = [
            one
            for one in self.known.values()
            if one.customer_id == customer_id
            and one.start <= month.last_day
            and (one.days.last >= since or one.subscription_id in self.unsettled)
        ]
        return sorted(found, key=lambda one: one.subscription_id)

    def items_of(self, customer_id: str, month: Month) -> list[Item]:
        """Those that are on no bill yet and may be on the month's."""
        found = [
            one
            for one in self.known_items.values()
            if one.customer_id == customer_id and one.item_id not in self.billed_in and one.date <= month.last_day
        ]
        return sorted(found, key=lambda one: (one.date, one.item_id))

    def unseen_months(self) -> list[Month]:
        """When subscriptions began that no bill has seen."""
        return [Month.of(one.start) for one in self.known.values() if one.subscription_id in self.unsettled]
