"""Bills created and charged, each against the bare limit on the same database and the same outside world."""

import asyncio
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
from sqlalchemy import Engine, text

from domain.calendar import Month
from domain.payments import CHARGE
from entrypoints.container import open_container
from entrypoints.crew import sandbox_settings, start_sandbox
from entrypoints.settings import OwnSettings
from entrypoints.supervisor import Supervisor

MONTH: Final = Month(2026, 9)
IN_FLIGHT: Final = 200
LATENCY_MS: Final = 50
CHUNK: Final = 1_000

_CUSTOMERS: Final = text(
    "INSERT INTO customers (customer_id, payment_method, payment_customer)"
    " SELECT 'c-' || n, 'pm_card_visa', 'cus_' || n FROM generate_series(1, :count) AS n"
)
_SUBSCRIPTIONS: Final = text(
    """
    INSERT INTO subscriptions (subscription_id, customer_id, plan, price, currency, tax_ppm, tax_included, start_on,
                               settled)
    SELECT 's-' || n, 'c-' || n, 'monthly', 500 + 100 * (n % 10), 'JPY', 100000, false, '2026-01-01', true
    FROM generate_series(1, :count) AS n
    """
)
# The rows that a run stores, by SQL alone; of the month before, so that both fit into one database.
_BARE: Final = (
    """
    INSERT INTO bills (customer_id, month, year, number, period_start, period_end, currency, total, taxes, settlement,
                       attempt, charge_key)
    SELECT customer_id, '2026-08', 2025, substr(customer_id, 3)::bigint, '2026-08-01', '2026-08-31', currency,
           price + price / 10, jsonb_build_array(jsonb_build_object('ppm', 100000, 'tax', price / 10)), 'charge', 1,
           'billing:' || customer_id || '\\:2026-08'
    FROM subscriptions WHERE customer_id > :after AND customer_id <= :until ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO bill_lines (customer_id, month, line, kind, source, text, amount, tax_ppm, tax_included, tax, first_day,
                            last_day)
    SELECT customer_id, '2026-08', 1, 'subscription', subscription_id, plan, price, tax_ppm, tax_included, price / 10,
           '2026-08-01', '2026-08-31'
    FROM subscriptions WHERE customer_id > :after AND customer_id <= :until ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO operations (key, kind, subject, number, request, fingerprint)
    SELECT 'billing:' || customer_id || '\\:2026-08', 'billing', customer_id, 1,
           json_build_object('amount', price, 'customer_id', customer_id, 'month', '2026-08',
                             'payment_method', 'pm_card_visa', 'currency', currency, 'bill', '2025-000001')::text,
           sha256(convert_to(customer_id, 'UTF8'))
    FROM subscriptions WHERE customer_id > :after AND customer_id <= :until ON CONFLICT DO NOTHING
    """,
)
_UNTIL: Final = text(
    "SELECT max(customer_id) FROM (SELECT customer_id FROM customers WHERE customer_id > :after"
    " ORDER BY customer_id LIMIT :chunk) AS chunk"
)


@dataclass(frozen=True)
class BillingFigures:
    """Units: per second, and megabytes of the process that creates."""

    bare_created: float
    created: float
    created_again: float
    megabytes: float
    bare_charged: float
    charged: float


def measure_billing(folder: Path, *, customers: int, charges: int) -> BillingFigures:
    """Creates bills for all customers, by SQL alone and by a run; then charges some, by a bare client and by ours."""
    settings = OwnSettings(home=folder / "home", stripe_in_flight=IN_FLIGHT)
    with open_container(settings, broker=False) as container:
        with container.engine().begin() as connection:
            connection.execute(_CUSTOMERS, {"count": customers})
            connection.execute(_SUBSCRIPTIONS, {"count": customers})
        _analyze(container.engine())
        bare = _rate(lambda: _create_bare(container.engine()), customers)
        with container.engine().begin() as connection:
            connection.execute(text("DELETE FROM operations"))  # of no bill of ours
        created = _rate(lambda: container.create_bills().execute(MONTH), customers)
        again = _rate(lambda: container.create_bills().execute(MONTH), customers)
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    charges = min(charges, customers)
    rates = [_charge(settings, charges, first=first) for first in (0, charges)]
    return BillingFigures(
        bare,
        created,
        again,
        megabytes,
        statistics.median(theirs for theirs, _ in rates),
        statistics.median(ours for _, ours in rates),
    )


def _create_bare(engine: Engine) -> None:
    after = ""
    while True:
        with engine.begin() as connection:
            until = connection.execute(_UNTIL, {"after": after, "chunk": CHUNK}).scalar_one()
            if until is None:
                return
            for statement in _BARE:
                connection.execute(text(statement), {"after": after, "until": until})
            after = until


def _charge(settings: OwnSettings, charges: int, *, first: int) -> tuple[float, float]:
    """Returns: the rate of a bare client, and ours, at one provider that thinks for a while about each."""
    with open_container(settings, broker=False) as opened, Supervisor() as supervisor:
        sandbox = start_sandbox(supervisor, opened.settings(), latency_ms=LATENCY_MS)
        opened.settings.override(opened.settings().model_copy(update=sandbox_settings(sandbox, "bench")))
        bare = _rate(lambda: asyncio.run(_charge_bare(sandbox, charges, first)), charges)
        perform = opened.perform()[CHARGE]
        left = charges

        def charge() -> None:
            nonlocal left
            while left > 0:
                left -= perform.execute(min(left, opened.work()[CHARGE].per_claim))

        ours = _rate(charge, charges)
        opened.payment_gateway().close()
    return bare, ours


async def _charge_bare(sandbox: str, charges: int, first: int) -> None:
    turns = asyncio.Semaphore(IN_FLIGHT)
    connector = aiohttp.TCPConnector(limit=IN_FLIGHT)
    async with aiohttp.ClientSession(connector=connector, headers={"Authorization": "Bearer bench"}) as session:

        async def charge(number: int) -> None:
            key = f"bare:{number}"
            form = {"amount": "980", "currency": "jpy", "payment_method": "pm_card_visa", "confirm": "true"}
            form |= {"off_session": "true", "payment_method_types[0]": "card", "metadata[ikkai_key]": key}
            async with (
                turns,
                session.post(f"{sandbox}/v1/payment_intents", data=form, headers={"Idempotency-Key": key}) as answer,
            ):
                answer.raise_for_status()
                await answer.json()

        await asyncio.gather(*(charge(number) for number in range(first, first + charges)))


def _analyze(engine: Engine) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def _rate(work: Callable[[], Any], count: int) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)
