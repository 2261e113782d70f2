"""Stripe as the payment provider: bills charged, and money given back, each under its key."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from adapters.calls.replies import account_of, presentable
from adapters.stripe.calls import Line, StripeCalls
from adapters.stripe.charge_look_ups import groups_to_look_up, look_up
from adapters.stripe.charges import charge
from adapters.stripe.refunds import look_up as look_up_refund
from adapters.stripe.refunds import refund
from domain.operations import Answer, LookUp, Operation


class StripePaymentGateway:
    """Stripe, set-based and safe to use from any thread. Without a base address it is Stripe's own.

    Units: seconds; one deadline holds for all calls of one set, however many wait for one of the `in_flight` turns.
    `clock_ahead` is how far our database's clock is ahead of the world's, other than zero in tests only.
    """

    def __init__(
        self,
        base_url: str | None,
        api_key: str,
        *,
        deadline_seconds: float,
        max_retry_after_seconds: float,
        in_flight: int = 50,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock_ahead: timedelta = timedelta(),
    ) -> None:
        self._api_key = api_key
        self._now = now
        self.account = account_of(api_key)
        self._clock_ahead = clock_ahead
        self._calls = StripeCalls(
            base_url,
            api_key,
            deadline_seconds=deadline_seconds,
            max_retry_after_seconds=max_retry_after_seconds,
            in_flight=in_flight,
            now=now,
        )

    def charge_each(self, charges: Sequence[Operation], *, began: float | None = None) -> Sequence[Answer]:
        """Charges stored payment methods, each under its key; what an attempt replaces is canceled there first.

        Result: `reference`, the provider's id (of a declined one, too), and `status` in its words.
        """
        return presentable(self._calls.converse_each(charge, charges, began), self._api_key)

    def look_up_charges(self, charges: Sequence[Operation]) -> Sequence[LookUp]:
        """What the provider knows of charges asked for before. Result: `reference` and `status`."""
        groups, now = groups_to_look_up(charges), self._now()

        async def look_up_group(line: Line, group: Sequence[Operation]) -> Sequence[LookUp]:
            return await look_up(line, group, self._clock_ahead, now)

        found: dict[str, LookUp] = {}
        for group, look_ups in zip(groups, self._calls.converse_each(look_up_group, groups), strict=True):
            found.update(zip([one.key for one in group], look_ups, strict=True))
        return presentable([found[one.key] for one in charges], self._api_key)

    def refund_each(self, refunds: Sequence[Operation], *, began: float | None = None) -> Sequence[Answer]:
        """Gives money back, or stops charges that are still being processed, each under its key.

        Result: `reference` and `status`; RUNNING while the provider has it pending.
        """
        return presentable(self._calls.converse_each(refund, refunds, began), self._api_key)

    def look_up_refunds(self, refunds: Sequence[Operation]) -> Sequence[LookUp]:
        """What the provider knows of refunds asked for before. Result: `reference` and `status`."""
        return presentable(self._calls.converse_each(look_up_refund, refunds), self._api_key)

    def close(self) -> None:
        """Ends this process's connections; a later call opens new ones."""
        self._calls.close()
