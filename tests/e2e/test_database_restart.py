"""Postgres crashing in the middle of everything: the processes heal by themselves (report B27; traps 6, 9, 57)."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg

from domain.operations import State
from tests.e2e.installation import TOTAL, Installation, soon
from tests.e2e.months import BilledMonth
from tests.e2e.outages import FragileServers
from tests.entrypoints.sandbox.world import Parcel

ORDERS, BILLS = 150, 50
FAILOVER_SECONDS = 1.5


def test_two_crashes_of_the_database_in_the_middle(
    busy_installation: Installation, servers_to_lose: FragileServers
) -> None:
    """Cut off while claiming, sending and settling: the same processes go on, and every order ends once."""
    installation = busy_installation
    orders = [Parcel() for _ in range(ORDERS)]
    installation.confirm(*orders[: ORDERS // 2])
    soon(lambda: installation.booked() >= 5)
    assert installation.booked() < ORDERS // 2
    servers_to_lose.bring_database_back()
    installation.confirm(*orders[ORDERS // 2 :])
    soon(lambda: installation.booked() >= ORDERS // 2 + 5)
    servers_to_lose.bring_database_back()
    installation.container.engine().dispose()  # the test's own connections were cut as well
    installation.wait_for(State.COMPLETED, *orders)
    installation.assert_done_once(orders)
    _assert_all_well(installation)


def test_a_crash_of_the_database_while_a_month_is_charged(
    busy_installation: Installation, servers_to_lose: FragileServers
) -> None:
    """Bills there, charges on their way: command and workers wait for the database, and each is charged once."""
    installation = busy_installation
    month = BilledMonth(installation)
    bills = month.subscribers(BILLS)
    with ThreadPoolExecutor() as together:
        running = together.submit(month.type, "run")
        soon(lambda: len(installation.ledger("charges", *bills)) >= 5)
        assert len(installation.ledger("charges", *bills)) < BILLS
        servers_to_lose.bring_database_back()
    installation.container.engine().dispose()
    report = running.result()
    counts = {"due": BILLS, "charged": BILLS, "total": {"JPY": BILLS * TOTAL}}
    assert report.code == 0, report
    assert counts.items() <= report.document.items()
    month.assert_charged_once(bills)
    _assert_all_well(installation)


def test_a_database_that_only_reads_for_a_while(
    busy_installation: Installation, servers_to_lose: FragileServers
) -> None:
    """As during a failover: who writes waits and is not told that it failed, and nothing is done twice (25006)."""
    installation = busy_installation
    month = BilledMonth(installation)
    bills, order = month.subscribers(BILLS // 2), Parcel()
    assert month.ikkai("run", "--no-wait").code == 0
    soon(lambda: bool(installation.ledger("charges", *bills)))
    with ThreadPoolExecutor() as together:
        with read_only(servers_to_lose.urls.database_url):
            waiting = together.submit(installation.confirm, order)
            time.sleep(FAILOVER_SECONDS)
            assert not waiting.done()
        waiting.result()
    installation.wait_for(State.COMPLETED, order, *bills)
    month.assert_charged_once(bills)
    assert len(installation.asked("charges", *bills)) == len(bills)
    _assert_all_well(installation)


@contextmanager
def read_only(database_url: str) -> Iterator[None]:
    """Every session may only read, but for this one."""
    with psycopg.connect(database_url, autocommit=True, options="-c default_transaction_read_only=off") as admin:
        admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        admin.execute("SELECT pg_reload_conf()")
        soon(lambda: _only_reads(database_url))  # the server reads its settings again in its own time
        try:
            yield
        finally:
            admin.execute("ALTER SYSTEM RESET default_transaction_read_only")
            admin.execute("SELECT pg_reload_conf()")


def _only_reads(database_url: str) -> bool:
    with psycopg.connect(database_url) as session:
        (setting,) = session.execute("SHOW default_transaction_read_only").fetchone() or ("",)
    return bool(setting == "on")


def _assert_all_well(installation: Installation) -> None:
    assert installation.dead_letters() == []
    assert not any(process.has_ended() for process in installation.processes)
