"""Subscriptions and items from files: the good rows are stored, every other one is named (contract, section 5)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.embedded import ServerUrls
from tests.e2e.commands import Finished
from tests.e2e.installation import Installation, running_installation
from tests.e2e.months import BilledMonth

SUBSCRIPTIONS = "subscription_id,customer_id,plan,price,currency,tax_rate,tax_included,start,end"
ITEMS = "item_id,customer_id,date,description,amount,currency,tax_rate,tax_included"


@pytest.fixture(scope="module")
def installation(servers: ServerUrls, template: str) -> Iterator[Installation]:
    with running_installation(servers, template) as installation:
        yield installation


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def imported(installation: Installation, what: str, file: Path, *rows: str, encoding: str = "utf-8") -> Finished:
    """Imports a file of these rows; the first one is the header."""
    file.write_bytes("\r\n".join(rows).encode(encoding))
    return installation.ikkai(what, "import", str(file), "--json")


def test_subscriptions_by_line_and_field(installation: Installation, file: Path) -> None:
    """Good: stored. Bad: its line and field. Told twice: a duplicate. Told otherwise: a conflict. Exit 1."""
    good = "s-1,c-1,monthly box,980,JPY,10,false,2026-09-01,"
    report = imported(
        installation,
        "subscriptions",
        file,
        SUBSCRIPTIONS,
        good,
        "s-2,c-2,monthly box,9.80,JPY,10,false,2026-09-01,",
        good,
        "s-3,c-3,monthly box,980,XXX,10,false,2026-09-01,",
        "s-4,c-4,monthly box,980,JPY,101,false,2026-09-01,",
        "s-5,c-5,monthly box,980,JPY,10,perhaps,2026-09-01,",
        "s-6,c-6,monthly box,980,JPY,10,false,2026-09-31,",
        "s-7,c-7,monthly box,980,JPY,10,false,2026-09-02,2026-09-01",
        "s-8,c-1,yearly box,980,USD,10,false,2026-09-01,",
        good.replace("980", "981"),
        "s-9,c-9,weekly box,500,USD,8.25,true,2026-09-01,2026-12-31",
    )
    assert report.code == 1
    assert (report.document["accepted"], report.document["duplicates"]) == (2, 1)
    assert [(row["line"], row["field"]) for row in report.document["rejected"]] == [
        (3, "price"),
        (5, "currency"),
        (6, "tax_rate"),
        (7, "tax_included"),
        (8, "start"),
        (9, "end"),
        (10, "currency"),
    ]
    assert [row["line"] for row in report.document["conflicts"]] == [11]
    assert installation.rows("SELECT count(*) FROM subscriptions") == [(2,)]


def test_only_the_end_may_change_and_never_before_a_billed_day(installation: Installation, file: Path) -> None:
    """Ended, prolonged, ended earlier: accepted; into a billed month: named by its field, the rest stands."""
    month = BilledMonth(installation)
    row = f"s-end,c-end,box,0,JPY,10,false,{month.month}-01,"
    for end in ("", f"{month.month}-28", "2027-12-31"):
        changed = imported(installation, "subscriptions", file, SUBSCRIPTIONS, row + end)
        assert (changed.code, changed.document["accepted"]) == (0, 1)
    assert month.ikkai("run").document["created"] == 1
    refused = imported(installation, "subscriptions", file, SUBSCRIPTIONS, f"{row}{month.month}-27")
    (complaint,) = refused.document["rejected"]
    assert (refused.code, complaint["line"], complaint["field"]) == (1, 2, "end")
    ended = installation.rows("SELECT end_on FROM subscriptions WHERE subscription_id = 's-end'")
    assert [str(end) for (end,) in ended] == ["2027-12-31"]


def test_items_are_stored_once(installation: Installation, file: Path) -> None:
    """A credit is an item too; the same file again is all duplicates, an id with another amount a conflict."""
    rows = ["i-1,c-i,2026-09-10,送料,500,JPY,10,false", "i-2,c-i,2026-09-11,お詫び,-200,JPY,10,false"]
    for accepted in (2, 0):
        report = imported(installation, "items", file, ITEMS, *rows)
        assert report.code == 0
        counts = {"accepted": accepted, "duplicates": 2 - accepted}
        assert report.document == counts | {"conflicts": [], "rejected": []}
    report = imported(
        installation,
        "items",
        file,
        ITEMS,
        rows[0].replace("500", "501"),
        "i-3,c-i,2026-09-10,box,ten,JPY,10,false",
        "i-4,c-i,2026-09-10,,100,JPY,10,false",
        "i-5,c-i,2026-09-10,box,100,USD,10,false",
    )
    assert (report.code, report.document["accepted"]) == (1, 0)
    assert [row["line"] for row in report.document["conflicts"]] == [2]
    told = [(row["line"], row["field"]) for row in report.document["rejected"]]
    assert told == [(3, "amount"), (4, "description"), (5, "currency")]


@pytest.mark.parametrize("encoding", ["cp932", "utf-8-sig", "utf-16"])
def test_a_file_as_the_office_writes_it(installation: Installation, file: Path, encoding: str) -> None:
    """Found out without being told: the plan's name arrives whole, on the bill's line too."""
    plan, customer_id = "定期便①", f"c-{encoding}"
    row = f"s-{encoding},{customer_id},{plan},0,JPY,10,false,2026-09-01,"
    report = imported(installation, "subscriptions", file, SUBSCRIPTIONS, row, encoding=encoding)
    assert (report.code, report.document["accepted"]) == (0, 1)
    assert installation.ikkai("billing", "run", "2026-09", "--customer", customer_id, "--no-wait").code == 0
    lines = "SELECT text FROM bill_lines WHERE customer_id = :customer"
    assert [plan in told for (told,) in installation.rows(lines, customer=customer_id)] == [True]


def test_a_file_that_is_none_stores_nothing(installation: Installation, file: Path) -> None:
    """Empty, without a needed column, not there: 2."""
    header = SUBSCRIPTIONS.replace("plan,", "")
    before = installation.rows("SELECT count(*) FROM subscriptions")
    row = "s-none,c-none,980,JPY,10,false,2026-09-01,"
    assert imported(installation, "subscriptions", file, header, row).code == 2
    assert imported(installation, "subscriptions", file, "").code == 2
    assert installation.ikkai("items", "import", str(file.with_name("nowhere.csv"))).code == 2
    assert installation.rows("SELECT count(*) FROM subscriptions") == before
