"""What Stripe knows of charges asked for before: found by our key in its list, never by its search, which lags."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from stripe.params import PaymentIntentListParams

from adapters.calls.replies import NoReply
from adapters.stripe.answers import NotBelieved, ProvidersIntent, intent_in, not_looked_up
from adapters.stripe.calls import Line, Request, read_list
from adapters.stripe.cancellations import SUCCEEDED, retrieved
from adapters.stripe.charges import standing
from domain.operations import Answer, Finding, LookUp, Operation, Outcome
from domain.payments import PROCESSING

PAGE_SIZE: Final = 100  # the most that Stripe gives at once
# How far the provider's clock may be from ours when we ask for what was created since.
CLOCK_MARGIN: Final = timedelta(seconds=300)

_FINDINGS: Final = {
    Outcome.DONE: Finding.FOUND,
    Outcome.RUNNING: Finding.RUNNING,
    Outcome.REFUSED: Finding.REFUSED,
    Outcome.FLAGGED: Finding.FLAGGED,
}


def groups_to_look_up(operations: Sequence[Operation]) -> Sequence[Sequence[Operation]]:
    """Operations that one look-up answers: alone where the provider's id is known, else by the provider's customer."""
    groups: dict[tuple[str, str | None], list[Operation]] = {}
    for one in operations:
        reference = one.result.get("reference")
        by = ("reference", one.key) if isinstance(reference, str) else ("customer", one.content["payment_customer"])
        groups.setdefault(by, []).append(one)
    return list(groups.values())


async def look_up(line: Line, group: Sequence[Operation], clock_ahead: timedelta, now: datetime) -> Sequence[LookUp]:
    """What the provider knows of one of the `groups_to_look_up`. Result: `reference` and `status`."""
    reference = group[0].result.get("reference")
    if isinstance(reference, str):
        return [await _look_up_known(line, group[0], reference)]
    wanted: dict[str, list[ProvidersIntent]] = {one.key: [] for one in group}
    pages: list[int] = []

    def read_page(objects: Sequence[Mapping[str, Any]]) -> bool:
        pages.append(len(objects))
        for intent in map(intent_in, objects):
            if intent.key in wanted:
                wanted[intent.key].append(intent)
        # One that was not paid does not end the search: an older one of the same key may have been.
        return all(any(one.status == SUCCEEDED for one in known) for known in wanted.values())

    broken = None
    try:
        await read_list(line, _pages(group, clock_ahead, now), read_page)
    except (NoReply, NotBelieved) as reason:
        broken = not_looked_up(reason)
        if pages and isinstance(reason, NoReply):
            # A list that is longer than what can be read by the deadline will be so the next time, too.
            broken = LookUp(Finding.UNCLEAR, f"after {len(pages)} pages: {reason}")
    return [_found(one, wanted[one.key], broken) for one in group]


async def _look_up_known(line: Line, operation: Operation, reference: str) -> LookUp:
    try:
        return as_look_up(standing(await retrieved(line, reference), operation))
    except (NoReply, NotBelieved) as reason:
        return not_looked_up(reason)


def _pages(group: Sequence[Operation], clock_ahead: timedelta, now: datetime) -> Callable[[str | None], Request]:
    bounds: PaymentIntentListParams = {"limit": PAGE_SIZE}
    customer = group[0].content["payment_customer"]
    sent = [one.first_sent_at for one in group if one.first_sent_at is not None]
    if customer:
        bounds["customer"] = customer
    elif len(sent) == len(group):
        # A first send in the future says that a clock was wrong then: no bound is safer.
        since = min(sent) if min(sent) <= now else datetime.fromtimestamp(0, UTC) + clock_ahead + CLOCK_MARGIN
        bounds["created"] = {"gte": int((since - clock_ahead - CLOCK_MARGIN).timestamp())}

    def page_after(last: str | None) -> Request:
        params: PaymentIntentListParams = bounds if last is None else {**bounds, "starting_after": last}
        return lambda client: client.v1.payment_intents.list_async(params)

    return page_after


def _found(operation: Operation, intents: Sequence[ProvidersIntent], broken: LookUp | None) -> LookUp:
    paid = [one for one in intents if one.status == SUCCEEDED]
    if broken is not None and not paid:
        return broken
    if not intents:
        return LookUp(Finding.NOT_FOUND, "the provider does not know this charge")
    counting = min(intents, key=lambda one: (one.status != SUCCEEDED, one.status != PROCESSING))
    if len(intents) == 1:
        return as_look_up(standing(counting, operation))
    all_of_them = ", ".join(f"{one.reference} {one.status}" for one in intents)
    reason = f"{len(intents)} payment intents at the provider: {all_of_them}"
    if len(paid) > 1:
        return LookUp(Finding.FLAGGED, f"paid {len(paid)} times; {reason}")
    found = as_look_up(standing(counting, operation))
    return LookUp(found.finding, f"{found.reason}; {reason}" if found.reason else reason, found.result)


def as_look_up(answer: Answer) -> LookUp:
    """The finding that says what an answer would have said."""
    return LookUp(_FINDINGS[answer.outcome], answer.reason, answer.result)
