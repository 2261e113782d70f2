"""How "once" is kept, per kind of work: the one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Policy(StrEnum):
    """How "once" is kept (record first, or record after), and so what a crash in the middle means."""

    IN_TRANSACTION = "in_transaction"  # a unique constraint and the effect commit together
    PROVIDER_KEY = "provider_key"  # record first; the provider knows our key, so the same request may be sent again
    CONFIRM = "confirm"  # record first; the provider knows no keys, so at most one send, then a person
    RESEND = "resend"  # record after; a second copy is better than none, a third is not
    OVERWRITE = "overwrite"  # no record; the result only replaces itself
    TOLERATED = "tolerated"  # at least once; a repeat annoys nobody


@dataclass(frozen=True, slots=True)
class KindPolicy:
    """The policy of one kind of work, where its provider honours keys and where it does not."""

    with_keys: Policy
    without_keys: Policy


def _same(policy: Policy) -> KindPolicy:
    return KindPolicy(policy, policy)


# One line per kind; work that is not listed here cannot be registered.
KINDS: Final[Mapping[str, KindPolicy]] = {
    "point-grant": _same(Policy.IN_TRANSACTION),
    "point-reversal": _same(Policy.IN_TRANSACTION),
    "order-event": _same(Policy.IN_TRANSACTION),
    "bill": _same(Policy.IN_TRANSACTION),
    "billing": KindPolicy(Policy.PROVIDER_KEY, Policy.CONFIRM),
    "refund": KindPolicy(Policy.PROVIDER_KEY, Policy.CONFIRM),
    "shipment-request": KindPolicy(Policy.PROVIDER_KEY, Policy.CONFIRM),
    "shipment-cancel": KindPolicy(Policy.PROVIDER_KEY, Policy.CONFIRM),
}


def policy_of(kind: str, *, honours_keys: bool) -> Policy:
    """How this kind of work is kept to once at this provider."""
    row = KINDS[kind]
    return row.with_keys if honours_keys else row.without_keys
