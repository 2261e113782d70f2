"""One month started from everywhere at once: one bill, one charge, one refund (reports B19, B20, B28)."""

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from adapters.embedded import ServerUrls
from tests.e2e.commands import ikkai
from tests.e2e.installation import TOTAL, Installation, running_installation, soon
from tests.e2e.months import BilledMonth, RefundOf

COMMANDS, CUSTOMERS, COPIES, THREADS = 6, 20, 3, 8
PAID, ASKED = 9899, 1000


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        installation.start_dispatcher()
        yield installation


def test_six_commands_and_a_queue_of_messages(installation: Installation) -> None:
    """All of them bill the same month at the same time: every report counts all, and money moved once."""
    month = BilledMonth(installation)
    bills = month.subscribers(CUSTOMERS)
    worker = installation.start_worker(threads=THREADS)
    worker.signal(signal.SIGSTOP)  # so that the messages are there when the threads come
    for bill in bills:
        content = {"customer_id": bill.customer_id, "month": bill.month}
        installation.send("billing.bill_customer", content, copies=COPIES)
    with ThreadPoolExecutor(COMMANDS) as together:
        running = [together.submit(month.type, "run") for _ in range(COMMANDS)]
        worker.signal(signal.SIGCONT)
    reports = [one.result() for one in running]
    assert [report.code for report in reports] == [0] * COMMANDS, reports
    for report in reports:
        assert report.document["due"] == report.document["charged"] == CUSTOMERS
        assert report.document["total"] == {"JPY": CUSTOMERS * TOTAL}
    soon(lambda: installation.container.broker().do_qsize("billing") == 0)
    month.assert_charged_once(bills)
    assert len(installation.asked("charges", *bills)) == CUSTOMERS
    assert_gapless(installation)
    assert installation.dead_letters() == []


def test_a_stricter_database_only_starts_units_again(installation: Installation) -> None:
    """Upwards, downwards and as a whole, at once, where each race is a serialization failure: all there, all once."""
    month = BilledMonth(installation)
    bills = month.subscribers(CUSTOMERS)
    runner = installation.container.billing_runner()
    ids = sorted(bill.customer_id for bill in bills)

    def bill_each(customer_ids: Sequence[str]) -> object:
        for customer_id in customer_ids:
            runner.bill_customer(customer_id, month.month)
        return customer_ids

    with strict(installation), ThreadPoolExecutor(THREADS) as together:
        begun: list[Future[object]] = [
            together.submit(bill_each, order) for order in (ids, ids[::-1]) for _ in range(THREADS // 4)
        ]
        begun += [together.submit(runner.run, month.month) for _ in range(THREADS // 2)]
        for one in begun:
            one.result()
    assert month.ikkai("run").document["charged"] == CUSTOMERS
    month.assert_charged_once(bills)
    assert len(installation.asked("charges", *bills)) == CUSTOMERS
    assert_gapless(installation)


def test_two_refunds_at_once_never_exceed_the_charge(installation: Installation) -> None:
    """Two commands at once, each for more than half: one is refused, and says what remains."""
    bill = BilledMonth(installation).paid()
    refunds, much = [RefundOf(bill, number) for number in (1, 2)], TOTAL * 2 // 3
    environment = installation.settings.as_environment()
    with ThreadPoolExecutor() as together:
        running = [together.submit(ikkai, *one.words(much), environment=environment) for one in refunds]
    answers = sorted((one.result() for one in running), key=lambda answer: answer.code)
    assert [answer.code for answer in answers] == [0, 1]
    assert f"{TOTAL - much} of {TOTAL} JPY remain" in answers[1].document["error"]
    assert [row["amount"] for row in installation.ledger("refunds", *refunds)] == [much]


def test_ten_refunds_at_once_give_back_what_there_is(installation: Installation) -> None:
    """Ten times 1,000 of 9,899 yen, by message: nine go back, the tenth is refused for good; the rest can follow."""
    bill = BilledMonth(installation).paid(price=PAID * 10 // 11 + 1)  # and its tax
    (paid,) = installation.ledger("charges", bill)
    refunds = [RefundOf(bill, number) for number in range(1, 11)]
    for refund in refunds:
        content = {"refund_id": refund.refund_id, "customer_id": bill.customer_id, "month": bill.month}
        installation.send("payments.refund", content | {"amount": ASKED})
    soon(lambda: len(installation.ledger("refunds", *refunds)) == paid["amount"] // ASKED)
    soon(lambda: len(installation.dead_letters()) == len(refunds) - paid["amount"] // ASKED)
    rest = installation.ikkai(*RefundOf(bill, 11).words())
    assert (rest.code, rest.document["amount"]) == (0, paid["amount"] % ASKED)
    assert installation.ikkai(*RefundOf(bill, 12).words(1)).code == 1
    rows = installation.ledger("refunds", *refunds, RefundOf(bill, 11))
    assert sum(row["amount"] for row in rows) == paid["amount"]


def assert_gapless(installation: Installation) -> None:
    """As many bills as numbers, and as the highest number says."""
    ((bills, numbers, highest),) = installation.rows("SELECT count(*), count(DISTINCT number), max(number) FROM bills")
    assert bills == numbers == highest


@contextmanager
def strict(installation: Installation) -> Iterator[None]:
    """New connections to this database serialize their transactions; the test's own are new."""
    engine, url = installation.container.engine(), str(installation.settings.database_url)
    setting = f"ALTER DATABASE {engine.url.database} SET default_transaction_isolation TO"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"{setting} serializable".encode())
        engine.dispose()
        try:
            yield
        finally:
            admin.execute(f"{setting} DEFAULT".encode())
            engine.dispose()
