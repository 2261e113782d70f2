"""Accounts as ledger tests look at them and bring them about."""

from domain.points import EntryKind, PointAccount, PointGrant, PointReversal
from tests.contracts.samples import grant, reversal
from tests.contracts.stores import Runner, Store


def grant_each(store: Runner, *grants: PointGrant) -> list[bool]:
    """One call, in a transaction of its own."""
    return list(store.run(lambda books: books.ledger.grant_each_once(grants)))


def reverse_each(store: Runner, *reversals: PointReversal) -> list[int]:
    """One call, in a transaction of its own."""
    return list(store.run(lambda books: books.ledger.reverse_each_once(reversals)))


def account(store: Runner, customer_id: str = "c-1") -> PointAccount:
    """The account of a customer who is known."""
    store.run(lambda books: books.customers.ensure([customer_id]))
    account = store.run(lambda books: books.ledger.account(customer_id))
    assert account is not None
    return account


def open_lots(store: Runner, customer_id: str = "c-1") -> dict[str, int]:
    """What is left to spend, by order, the first to be spent first."""
    return {lot.order_id: lot.remaining for lot in account(store, customer_id).lots}


def bring_into_debt(store: Store, points: int, customer_id: str = "c-1") -> None:
    """The customer spends the points of an order, which is then cancelled."""
    order_id = f"debt of {customer_id}"
    grant_each(store, grant(order_id, points, customer_id=customer_id))
    store.lower(EntryKind.REDEEM, customer_id, order_id, points)
    reverse_each(store, reversal(order_id))
    assert account(store, customer_id).debt == points
