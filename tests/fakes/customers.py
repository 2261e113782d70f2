"""Customers in memory."""

from collections.abc import Mapping, Sequence

from domain.customers import Customer


class InMemoryCustomerBook:
    """`CustomerBook` over a dictionary; whoever runs the unit holds every lock there is."""

    def __init__(self) -> None:
        self.customers: dict[str, Customer] = {}

    def ensure(self, customer_ids: Sequence[str]) -> None:
        for customer_id in customer_ids:
            self.customers.setdefault(customer_id, Customer(customer_id))

    def known(self, customer_ids: Sequence[str]) -> set[str]:
        return {*customer_ids} & {*self.customers}

    def lock(self, customer_ids: Sequence[str]) -> Mapping[str, Customer]:
        return {one: self.customers[one] for one in sorted({*customer_ids}) if one in self.customers}

    def save(self, customers: Sequence[Customer]) -> None:
        for customer in customers:
            if customer.customer_id in self.customers:
                self.customers[customer.customer_id] = customer
