"""What must always hold of the ledger, checked after every contract test behind the books' backs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Engine, text

from domain.points import EntryKind
from tests.fakes.points import InMemoryPointLedger


@dataclass(frozen=True, slots=True)
class Tally:
    """One customer's points, added up three times over: by balance, by entries and by lots."""

    customer_id: str
    balance: int
    entries: int
    entries_granted: int
    entries_reversed: int
    entries_expired: int
    lots_granted: int
    lots_reversed: int
    lots_expired: int
    lots_remaining: int


def assert_identities(tallies: Sequence[Tally]) -> None:
    """Sum of entries = balance = sum of remaining − debt; debt and open lots never together; lots as entries say."""
    for tally in tallies:
        assert tally.entries == tally.balance, f"entries do not add up to the balance: {tally}"
        assert tally.lots_remaining == max(0, tally.balance), f"lots do not add up to the balance: {tally}"
        assert tally.lots_granted == tally.entries_granted, f"lots and entries differ on grants: {tally}"
        assert tally.lots_reversed == tally.entries_reversed, f"lots and entries differ on reversals: {tally}"
        assert tally.lots_expired == tally.entries_expired, f"lots and entries differ on expiry: {tally}"


_TALLIES: Final = text(
    """
    WITH known AS (
        SELECT customer_id FROM point_balances
        UNION SELECT customer_id FROM point_entries
        UNION SELECT customer_id FROM point_lots
    ), entries AS (
        SELECT customer_id, sum(points) AS total, sum(points) FILTER (WHERE kind = 'grant') AS granted,
               -sum(points) FILTER (WHERE kind = 'reverse') AS reversed,
               -sum(points) FILTER (WHERE kind = 'expire') AS expired
        FROM point_entries GROUP BY customer_id
    ), lots AS (
        SELECT customer_id, sum(points) AS granted, sum(reversed) AS reversed, sum(expired) AS expired,
               sum(remaining) AS remaining
        FROM point_lots GROUP BY customer_id
    )
    SELECT customer_id, coalesce(balance, 0), coalesce(entries.total, 0), coalesce(entries.granted, 0),
           coalesce(entries.reversed, 0), coalesce(entries.expired, 0), coalesce(lots.granted, 0),
           coalesce(lots.reversed, 0), coalesce(lots.expired, 0), coalesce(lots.remaining, 0)
    FROM known
    LEFT JOIN point_balances USING (customer_id)
    LEFT JOIN entries USING (customer_id)
    LEFT JOIN lots USING (customer_id)
    """
)


def postgres_tallies(engine: Engine) -> Sequence[Tally]:
    """By SQL over the tables."""
    with engine.connect() as connection:
        return [Tally(customer_id, *map(int, sums)) for customer_id, *sums in connection.execute(_TALLIES)]


def in_memory_tallies(ledger: InMemoryPointLedger) -> Sequence[Tally]:
    """By hand over the fake's own state."""
    return [_in_memory_tally(ledger, customer_id) for customer_id in {*ledger.balances, *ledger.owners.values()}]


def _in_memory_tally(ledger: InMemoryPointLedger, customer_id: str) -> Tally:
    entries = [line.entry for line in ledger.lines if line.customer_id == customer_id]
    lots = [lot for fact, lot in ledger.lots.items() if ledger.owners[fact] == customer_id]

    def posted(kind: EntryKind) -> int:
        return sum(entry.points for entry in entries if entry.kind is kind)

    return Tally(
        customer_id,
        balance=ledger.balances.get(customer_id, 0),
        entries=sum(entry.points for entry in entries),
        entries_granted=posted(EntryKind.GRANT),
        entries_reversed=-posted(EntryKind.REVERSE),
        entries_expired=-posted(EntryKind.EXPIRE),
        lots_granted=sum(lot.points for lot in lots),
        lots_reversed=sum(lot.reversed for lot in lots),
        lots_expired=sum(lot.expired for lot in lots),
        lots_remaining=sum(lot.remaining for lot in lots),
    )
