"""The shop's main job over fakes: every use case, and what a test wants to see of it."""

from collections.abc import Callable
from typing import Any, Final
from zoneinfo import ZoneInfo

from application.operations import DecideOperation, Performer, PerformOperations, ReconcileUnknowns, SweepLeases, Timing
from application.orders import AcceptOrderEvents, ApplyOrderEvents
from application.points import GrantOrderPoints, ReadPoints, RedeemPoints
from application.shipping import ReadShipments, RequestShipment, ShipmentCancelPerformer, ShipmentRequestPerformer
from domain.customers import Customer
from domain.errors import Refused
from domain.keys import shipment_cancel_key, shipment_request_key
from domain.operations import Operation, RetryPolicy, State, policy_of
from domain.orders.rules import Order, PointRules
from domain.shipping import CANCEL, REQUEST
from tests.fakes.clock import FakeClock
from tests.fakes.shipping import FakeShippingGateway
from tests.fakes.transactions import InMemoryBooks, InMemoryTransactions

TOKYO: Final = ZoneInfo("Asia/Tokyo")


class Shop:
    """Use cases, wired as the container wires them; `patience` is short so that tests can count to its end."""

    def __init__(self, *, honours_keys: bool = True) -> None:
        self.clock = FakeClock()
        self.transactions = InMemoryTransactions(self.clock)
        self.carrier = FakeShippingGateway(honours_keys=honours_keys)
        self.carrier.during_call = self.carrier.during_look_up = self.transactions.assert_none_open
        self.retry_policy = RetryPolicy(max_attempts=3)
        self.timing = Timing()
        self.policies = {kind: policy_of(kind, honours_keys=honours_keys) for kind in (REQUEST, CANCEL)}
        self.requests = ShipmentRequestPerformer(self.carrier, self.policies[REQUEST])
        self.cancels = ShipmentCancelPerformer(self.carrier, self.policies[CANCEL])
        self._workers = 0

        rules = PointRules(TOKYO)
        self.accept = AcceptOrderEvents(self.transactions, self.clock)
        self.apply = ApplyOrderEvents(self.transactions, rules)
        self.grant = GrantOrderPoints(self.transactions, rules, self.clock)
        self.redeem = RedeemPoints(self.transactions, rules, self.clock)
        self.points = ReadPoints(self.transactions)
        self.ask = RequestShipment(self.transactions)
        self.shipments = ReadShipments(self.transactions)
        self.decide = DecideOperation(self.transactions)
        self.sweep = SweepLeases(self.transactions, self.policies, self.retry_policy)
        self.reconcile = ReconcileUnknowns(self.transactions, [self.requests, self.cancels])

    def worker(
        self,
        performer: Performer | None = None,
        *,
        name: str | None = None,
        at_once: int = 100,
        monotonic: Callable[[], float] = lambda: 0.0,
    ) -> PerformOperations:
        """One more worker, for parcels unless another performer is given. Its own clock stands still."""
        self._workers += 1
        return PerformOperations(
            self.transactions,
            performer or self.requests,
            self.retry_policy,
            self.timing,
            self.clock,
            worker=name or f"w{self._workers}",
            at_once=at_once,
            monotonic=monotonic,
        )

    def tell(self, *envelopes: object) -> None:
        """Events come in, one delivery each, and are applied one by one."""
        for envelope in envelopes:
            self.accept.execute([envelope])
            self.apply.execute()

    def tell_at_once(self, *envelopes: object) -> None:
        """Events come in and are applied in one set."""
        self.accept.execute(envelopes)
        self.apply.execute()

    def ship(self) -> int:
        """A new worker asks for all parcels that are due. Returns: how many it took on."""
        return self.worker().execute(100)

    def stop_parcels(self) -> int:
        """A new worker asks to stop all parcels for which that is due. Returns: how many it took on."""
        return self.worker(self.cancels).execute(100)

    @property
    def books(self) -> InMemoryBooks:
        """What has been committed."""
        return self.transactions.books

    def order(self, order_id: str = "o-1") -> Order:
        order = self.books.orders.get(order_id)
        assert order is not None
        return order

    def customer(self, customer_id: str = "c-1") -> Customer:
        return self.books.customers.customers[customer_id]

    def balance(self, customer_id: str = "c-1") -> int:
        """Zero also for a customer nobody has heard of."""
        try:
            return self.points.account(customer_id).balance
        except Refused:
            return 0

    def grants(self, customer_id: str = "c-1") -> list[tuple[str | None, str, int]]:
        """Every line of the customer: order, reason, signed points."""
        return [(line.order_id, line.reason, line.points) for line in self.points.history(customer_id)]

    def request(self, order_id: str = "o-1", number: int = 1) -> Operation:
        return self.books.operations.operations[shipment_request_key(order_id, number)]

    def cancellation(self, order_id: str = "o-1", number: int = 1) -> Operation:
        return self.books.operations.operations[shipment_cancel_key(order_id, number)]

    def parcels(self, order_id: str = "o-1") -> dict[int, str]:
        """The parcels of an order as people speak of them, by number."""
        return {
            one.number: one.state for one in sorted(self.shipments.execute(order_id=order_id), key=lambda o: o.number)
        }

    def live_parcels(self, order_id: str = "o-1") -> int:
        """How many of an order's parcels are to reach the customer."""
        stopped = {one.number for one in self.books.operations.of_subject(CANCEL, order_id)}
        requests = self.books.operations.of_subject(REQUEST, order_id)
        return sum(one.state is not State.REFUSED and one.number not in stopped for one in requests)

    def events(self, subject: str | None = None) -> dict[str, tuple[str, str | None]]:
        """State and reason of each event, by id, the contradicting deliveries left out."""
        found = self.books.inbox.find(states=[], subject=subject, limit=None)
        return {one["event_id"]: (str(one["state"]), one["reason"]) for one in reversed(found)}

    def state_of(self, envelope: dict[str, Any]) -> str:
        """What became of an event."""
        return self.events()[envelope["id"]][0]
