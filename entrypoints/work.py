"""The kinds of work that are due at times: which doorbell rings for each, and how those outside are performed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from application.dispatch import ORDER_EVENT
from application.operations import Performer
from application.payments import PaymentGateway, charge_performer, refund_performer
from application.shipping import ShipmentCancelPerformer, ShipmentRequestPerformer, ShippingGateway
from domain.operations import RetryPolicy, policy_of
from domain.payments import CHARGE, REFUND
from domain.shipping import CANCEL, REQUEST
from entrypoints.settings import Settings

# Claimed together are so many times what is sent at once: fewer commits, and few enough for one lease where each
# call takes a second.
SENDS_PER_CLAIM: Final = 8
# Parcels gated and sent at once: as many as the gateway has calls in flight (httpx's own pool slows down above ten).
PARCELS_AT_ONCE: Final = 8

RING_ACTORS: Final = {
    ORDER_EVENT: "orders.apply_due_events",
    REQUEST: "shipping.request_due_shipments",
    CANCEL: "shipping.cancel_due_shipments",
    CHARGE: "payments.charge_due_bills",
    REFUND: "payments.send_due_refunds",
}


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work outside: who performs it, how many are sent at once, how often and how long it is tried."""

    performer: Performer
    at_once: int
    retry_policy: RetryPolicy

    @property
    def per_claim(self) -> int:
        return self.at_once * SENDS_PER_CLAIM


def kinds_of_work(settings: Settings, shipping: ShippingGateway, payments: PaymentGateway) -> Mapping[str, Work]:
    """Every kind of work outside, with what its provider is known to do."""
    carrier_keys, stripe_keys = settings.carrier_honours_keys, settings.stripe_honours_keys
    parcels, charges = _at_once(PARCELS_AT_ONCE, carrier_keys), _at_once(settings.stripe_in_flight, stripe_keys)
    carrier, stripe = settings.carrier_retry_policy, settings.stripe_retry_policy
    work = (
        Work(ShipmentRequestPerformer(shipping, policy_of(REQUEST, honours_keys=carrier_keys)), parcels, carrier),
        Work(ShipmentCancelPerformer(shipping, policy_of(CANCEL, honours_keys=carrier_keys)), parcels, carrier),
        Work(charge_performer(payments, policy_of(CHARGE, honours_keys=stripe_keys)), charges, stripe),
        Work(refund_performer(payments, policy_of(REFUND, honours_keys=stripe_keys)), charges, stripe),
    )
    return {one.performer.kind: one for one in work}


def _at_once(in_flight: int, honours_keys: bool) -> int:
    # Where the provider knows no keys, a dead worker leaves for a person what it had sent: then one by one.
    return in_flight if honours_keys else 1
