"""Points by hand, and points to look at: the same book that order events write."""

from dataclasses import replace
from datetime import date, datetime
from typing import Protocol

from application.transactions import Clock, Transactions
from domain.calendar import business_date, last_valid_date
from domain.customers import CustomerBook
from domain.errors import Malformed, Refused
from domain.keys import grant_reason, identifier
from domain.orders.rules import Order, OrderBook, OrderStatus, PointRules
from domain.points import PointAccount, PointEntry, PointGrant, PointLedger, PointRedemption, whole_points


class PointBooks(Protocol):
    """The books that granting points writes."""

    @property
    def orders(self) -> OrderBook: ...
    @property
    def customers(self) -> CustomerBook: ...
    @property
    def ledger(self) -> PointLedger: ...


class GrantOrderPoints:
    """Grants an order's points, whoever asks and how often: an event, a message, a command or a script."""

    def __init__(self, transactions: Transactions[PointBooks], rules: PointRules, clock: Clock) -> None:
        self._transactions = transactions
        self._rules = rules
        self._clock = clock

    def execute(self, *, order_id: object, customer_id: object, points: object, reason: object = None) -> bool:
        """Key: (order_id, reason), the reason of a confirmed order unless another is given.

        Returns: true when this call granted them, false when they were granted before.
        Raises: Malformed naming a field; Conflict when other points were granted; Refused for a cancelled order.
        """
        expires_on = last_valid_date(self._clock.now(), self._rules.valid_months, self._rules.zone)
        grant = PointGrant(
            identifier("order_id", order_id),
            grant_reason() if reason is None else identifier("reason", reason),
            identifier("customer_id", customer_id),
            whole_points("points", points),
            expires_on,
        )
        return grant.points > 0 and self._transactions.run(lambda books: _grant_once(books, grant))


def _grant_once(books: PointBooks, grant: PointGrant) -> bool:
    order = books.orders.lock([grant.order_id]).get(grant.order_id)
    if order is None:
        # Stored first, so that a cancel on its way meets it (a lock on a row that does not exist locks nothing).
        order = Order(grant.order_id, customer_id=grant.customer_id)
        books.orders.add([order])
    first = next(iter(books.ledger.granted([(grant.order_id, grant.reason)])), None)
    if first is not None:
        grant.check_same(first)
        return False
    if order.status is OrderStatus.CANCELLED and grant.reason.partition("#")[0] == grant_reason():
        raise Refused(f"order {grant.order_id} is cancelled; give another reason to grant all the same")
    if grant.reason == grant_reason() and order.grant_reason is None:
        books.orders.save([replace(order, grant_reason=grant.reason)])
    books.customers.ensure([grant.customer_id])
    return books.ledger.grant_once(grant)


class RedeemPoints:
    """Spends a customer's points, once per redemption, whoever asks and how often."""

    def __init__(self, transactions: Transactions[PointBooks], rules: PointRules, clock: Clock) -> None:
        self._transactions = transactions
        self._rules = rules
        self._clock = clock

    def execute(self, *, redemption_id: object, customer_id: object, points: object, order_id: object = None) -> bool:
        """Key: the redemption's id. What is refused stores nothing, and its id stays free.

        Returns: true when this call spent them, false when they were spent before.
        Raises: Malformed naming a field; Conflict for an id known with other content; Refused where the balance is
        less, or the order is cancelled.
        """
        redemption = PointRedemption(
            identifier("redemption_id", redemption_id),
            identifier("customer_id", customer_id),
            whole_points("points", points),
            None if order_id is None else identifier("order_id", order_id),
        )
        if redemption.points == 0:
            raise Malformed("points", "must be 1 or more")
        today = business_date(self._clock.now(), self._rules.zone)
        return self._transactions.run(lambda books: _redeem_once(books, redemption, today))


def _redeem_once(books: PointBooks, redemption: PointRedemption, today: date) -> bool:
    if redemption.order_id is not None:
        order = books.orders.lock([redemption.order_id]).get(redemption.order_id)
        if order is None:
            # Stored first, so that a cancel on its way meets it.
            books.orders.add([Order(redemption.order_id, customer_id=redemption.customer_id)])
        elif order.status is OrderStatus.CANCELLED:
            raise Refused(f"order {redemption.order_id} is cancelled; nothing can be spent on it", field="order_id")
    books.ledger.expire_due([redemption.customer_id], today)
    return books.ledger.redeem_once(redemption)


class ReadPoints:
    """What a customer has, and how it came about."""

    def __init__(self, transactions: Transactions[PointBooks]) -> None:
        self._transactions = transactions

    def account(self, customer_id: object) -> PointAccount:
        """Raises: Refused for a customer who never had points or was never heard of."""
        known = identifier("customer_id", customer_id)
        account = self._transactions.run(lambda books: books.ledger.account(known))
        if account is None:
            raise Refused(f"no customer {known} is known", field="customer_id")
        return account

    def history(self, customer_id: object, *, as_of: datetime | None = None) -> list[PointEntry]:
        """Every line of the customer in order of posting, up to and including `as_of`."""
        known = identifier("customer_id", customer_id)
        return self._transactions.run(lambda books: list(books.ledger.history(known, as_of=as_of)))
