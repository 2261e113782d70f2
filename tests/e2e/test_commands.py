"""Every command beside a running `ikkai up --sandbox`, as the contract's section 5 has them."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.installation import POINTS, confirmed, customer_of, soon
from tests.e2e.running_up import Up, running_up, temporary_home
from tests.entrypoints.sandbox.paying import Bill
from tests.entrypoints.sandbox.world import Parcel


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    with temporary_home() as home, running_up(home) as up:
        yield up


@pytest.fixture(scope="module")
def order(up: Up) -> Parcel:
    """An order whose parcel is booked although the carrier fell silent after it had booked it."""
    order = Parcel()
    up.world.script("silent_after", match=order.order_id)
    assert up.post_event(confirmed(order)).status_code == 202
    booked = ("operations", "list", "--state", "completed", "--json")
    soon(lambda: order.key in up.home.type(*booked).out)
    return order


def test_runtime_json_says_where_everything_is(up: Up) -> None:
    """Five facts, and readable for its owner alone, since one of them is a key."""
    file = up.home.folder / "runtime.json"
    assert set(up.runtime) == {"api", "api_key", "sandbox", "database_url", "broker_url"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert httpx.get(f"{up.runtime['api']}/healthz", timeout=10, trust_env=False).status_code == 200
    assert httpx.get(f"{up.runtime['sandbox']}/_ledger", timeout=10, trust_env=False).status_code == 200


def test_a_carrier_that_fell_silent_leaves_one_parcel(up: Up, order: Parcel) -> None:
    """Booked, not said, looked up: one parcel at the carrier, asked for once."""
    assert len(up.world.ledger(order)) == 1
    assert len(up.world.seen(order)) == 1


def test_points_are_shown_with_their_history(up: Up, order: Parcel) -> None:
    """Balance, debt, lots; each entry with the balance after it; none before the order."""
    customer = customer_of(order)
    shown = up.home.type("points", "show", customer, "--json").document
    (lot,) = shown.pop("lots")
    assert shown == {"customer_id": customer, "balance": POINTS, "debt": 0}
    expected = {"order_id": order.order_id, "reason": "order_confirmed", "points": POINTS, "remaining": POINTS}
    assert lot == expected | {"expires_on": "2027-10-31"}
    (entry,) = up.home.type("points", "history", customer, "--json").document
    assert entry.pop("at")
    assert entry == {
        "kind": "grant",
        "points": POINTS,
        "balance_after": POINTS,
        "order_id": order.order_id,
        "reason": "order_confirmed",
    }
    before = ("--as-of", "2026-01-01T00:00:00+09:00")
    assert up.home.type("points", "history", customer, *before, "--json").document == []


def test_granting_by_hand_is_once_and_never_silent(up: Up, order: Parcel) -> None:
    """Done: 0; again: 0 and a no-op; other points: 1; no number: 2; and the sum says so."""
    what = ("points", "grant", "--order", order.order_id, "--customer", customer_of(order))
    for points, reason, code in (
        ("100", (), 0),
        ("50", ("--reason", "sorry"), 0),
        ("50", ("--reason", "sorry"), 0),
        ("51", ("--reason", "sorry"), 1),
        ("1e2", (), 2),
        ("-1", (), 2),
        ("", (), 2),
        ("9223372036854775808", (), 2),
    ):
        granted = up.home.type(*what, "--points", points, *reason, "--json")
        assert granted.code == code, (points, granted)
        assert code == 0 or granted.document["error"]
    shown = up.home.type("points", "show", customer_of(order), "--json").document
    assert shown["balance"] == POINTS + 50


def test_points_are_spent_once_and_never_below_zero(up: Up, order: Parcel) -> None:
    """Done: 0; again: 0 and a no-op; other content, or more than there is: 1; no number: 2."""
    customer = f"spender-{order.order_id}"
    earned = ("points", "grant", "--order", f"spent-{order.order_id}", "--customer", customer, "--points", str(POINTS))
    assert up.home.type(*earned).code == 0
    what = ("points", "redeem", "--customer", customer)
    for redemption, points, code in (
        ("r-1", "30", 0),
        ("r-1", "30", 0),
        ("r-1", "31", 1),
        ("r-2", str(POINTS), 1),
        ("r-2", "0", 2),
        ("r-2", "1e2", 2),
        ("r-2", str(POINTS - 30), 0),
    ):
        redeemed = up.home.type(*what, "--redemption", f"{redemption}-{order.order_id}", "--points", points, "--json")
        assert redeemed.code == code, (redemption, points, redeemed)
        assert code == 0 or redeemed.document["error"]
    shown = up.home.type("points", "show", customer, "--json").document
    assert (shown["balance"], shown["lots"]) == (0, [])
    kinds = [entry["kind"] for entry in up.home.type("points", "history", customer, "--json").document]
    assert kinds == ["grant", "redeem", "redeem"]


def test_parcels_and_operations_are_listed_and_shown(up: Up, order: Parcel) -> None:
    """The same parcel as people, as operators and as the carrier speak of it."""
    (row,) = up.world.ledger(order)
    (shipment,) = up.home.type("shipments", "list", "--order", order.order_id, "--json").document
    assert (shipment["state"], shipment["reference"]) == ("booked", row["reference"])
    listed = up.home.type("operations", "list", "--kind", "shipment-request", "--json").document
    (operation,) = (line for line in listed if line["key"] == order.key)
    assert set(operation) == {"key", "kind", "state", "attempts", "reason", "created_at", "next_at"}
    shown = up.home.type("operations", "show", order.key, "--json").document
    assert shown["result"]["reference"] == row["reference"]
    assert [step["what"] for step in shown["story"]][:2] == ["claimed", "sent"]


@pytest.mark.parametrize("what", ["order", "customer", "key"])
def test_the_causal_chain_is_explained(up: Up, order: Parcel, what: str) -> None:
    """From the event to the points and the parcel, for people and for programs."""
    value = {"order": order.order_id, "customer": customer_of(order), "key": order.key}[what]
    assert up.home.type("explain", what, value).code == 0
    document = up.home.type("explain", what, value, "--json").document
    told = json.dumps(document, ensure_ascii=False)
    expected = {"order": f"confirmed-{order.order_id}", "customer": order.order_id, "key": "completed"}
    assert expected[what] in told


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("operations", "retry", "shipment-request:nobody"), 1),
        (("operations", "show", "shipment-request:nobody"), 1),
        (("operations", "list", "--state", "lost"), 2),
        (("operations", "list", "--kind", "miracle"), 2),
        (("operations", "resolve", "k", "--by", "mika", "--evidence", "seen"), 2),
        (("operations", "resolve", "k", "--happened", "P", "--did-not-happen", "--by", "m", "--evidence", "e"), 2),
        (("operations", "resolve", "k", "--happened", "P", "--by", "mika"), 2),
        (("shipments", "request", "nobody"), 1),
        (("points", "show", "nobody"), 1),
        (("points", "show", "c\x01"), 2),
        (("points", "history", "c", "--as-of", "yesterday"), 2),
        (("explain", "order", "nobody"), 1),
        (("explain", "weather", "x"), 2),
        (("events", "import", "/nowhere/at-all.ndjson"), 2),
        (("migrate",), 0),
        (("migrate", "--check"), 0),
        (("frobnicate",), 2),
        ((), 2),
    ],
    ids=str,
)
def test_exit_codes(up: Up, command: tuple[str, ...], code: int) -> None:
    """0 done, 1 refused with a reason, 2 invalid."""
    finished = up.home.type(*command)
    assert finished.code == code, finished
    assert "Traceback" not in finished.err
    if code == 1:
        assert finished.err.strip()


def test_retry_is_for_parked_work(up: Up, order: Parcel) -> None:
    """What is done is not done again."""
    refused = up.home.type("operations", "retry", order.key, "--json")
    assert refused.code == 1
    assert "completed" in refused.document["error"]


def test_a_file_imported_twice_tells_nothing_new(up: Up, tmp_path: Path) -> None:
    """NDJSON and CSV, once more and through a pipe: all duplicates; and each effect once."""
    orders = [Parcel() for _ in range(20)]
    ndjson, csv = tmp_path / "events.ndjson", tmp_path / "orders.csv"
    ndjson.write_text("".join(f"{json.dumps(confirmed(order))}\n" for order in orders))
    rows = [f"csv-{order.order_id},{customer_of(order)},12000,JPY,7,2026-10-03T12:34:56+09:00" for order in orders]
    csv.write_bytes("\r\n".join(["order_id,customer_id,total,currency,points,time", *rows]).encode("utf-8-sig"))
    for file in (ndjson, csv):
        for accepted in (20, 0):
            finished = up.home.ikkai("events", "import", str(file), "--json")
            assert finished.code == 0
            counts = {"accepted": accepted, "duplicates": 20 - accepted}
            assert finished.document == counts | {"conflicts": [], "rejected": []}
    piped = up.home.ikkai("events", "import", "-", "--json", stdin=ndjson.read_text())
    assert piped.document["duplicates"] == 20
    soon(lambda: all(up.world.ledger(order) for order in orders))
    assert [len(up.world.ledger(order)) for order in orders] == [1] * 20
    shown = up.home.type("points", "show", customer_of(orders[0]), "--json").document
    assert shown["balance"] == POINTS + 7


def test_good_rows_of_a_bad_file_are_stored(up: Up, tmp_path: Path) -> None:
    """Each bad row by its line and field, a conflict by its line, exit code 1; an empty file: 2, nothing stored."""
    first, second, third = Parcel(), Parcel(), Parcel()
    lines = [
        json.dumps(confirmed(first)),
        "not JSON",
        json.dumps(confirmed(second, points=-1)),
        json.dumps(confirmed(first, points=80)),
        "",
        json.dumps(confirmed(third)),
    ]
    file = tmp_path / "events.ndjson"
    file.write_text("\n".join(lines))
    finished = up.home.type("events", "import", str(file), "--json")
    report = finished.document
    assert (finished.code, report["accepted"], report["duplicates"]) == (1, 2, 0)
    assert [conflict["line"] for conflict in report["conflicts"]] == [4]
    assert [(row["line"], row["field"]) for row in report["rejected"]] == [(2, "record"), (3, "points")]
    file.write_bytes(b"")
    assert up.home.type("events", "import", str(file)).code == 2


def test_customers_are_imported(up: Up, tmp_path: Path) -> None:
    """Told once: accepted; told the same again: nothing new; a bad row by its line."""
    file = tmp_path / "customers.csv"
    file.write_text("customer_id,email,name,locale\nc-1,mika@example.com,美香,ja\nc-2,nobody,名無し,ja\n")
    for accepted in (1, 0):
        finished = up.home.type("customers", "import", str(file), "--json")
        assert finished.code == 1
        assert (finished.document["accepted"], finished.document["duplicates"]) == (accepted, 1 - accepted)
        assert [(row["line"], row["field"]) for row in finished.document["rejected"]] == [(3, "email")]


def test_a_month_from_files_to_the_refund(up: Up, tmp_path: Path) -> None:
    """Customers, plans and an item come from files; previewed, billed, billed again, and part of it given back."""
    bill, month = Bill(month="2026-09"), "2026-09"
    files = {
        "customers": f"customer_id,payment_method,payment_customer\n{bill.customer_id},pm_card_visa,{bill.customer}\n",
        "subscriptions": "subscription_id,customer_id,plan,price,currency,tax_rate,tax_included,start,end\n"
        f"s-1,{bill.customer_id},定期便,980,JPY,10,false,2026-09-01,2026-09-30\n",
        "items": "item_id,customer_id,date,description,amount,currency,tax_rate,tax_included\n"
        f"i-1,{bill.customer_id},2026-09-10,送料,500,JPY,10,true\n",
    }
    for what, rows in files.items():
        file = tmp_path / f"{what}.csv"
        file.write_text(rows, encoding="cp932")
        assert up.home.type(what, "import", str(file), "--json").document["accepted"] == 1
    total = 980 + 98 + 500
    preview = up.home.type("billing", "run", month, "--dry-run", "--json").document
    assert (preview["due"], preview["created"], preview["total"]) == (1, 0, {"JPY": total})
    for created in (1, 0):
        finished = up.home.ikkai("billing", "run", month, "--json")
        assert (finished.code, finished.err) == (0, "")
        assert (finished.document["created"], finished.document["already"]) == (created, 1 - created)
        assert finished.document["charged"] == 1
    assert up.home.type("billing", "status", month, "--json").document["digest"] == preview["digest"]
    (charge,) = up.world.http.get("/_ledger").json()["charges"]
    assert (charge["key"], charge["amount"], charge["status"]) == (bill.key, total, "succeeded")

    asked = ("--refund", "r-1", "--customer", bill.customer_id, "--month", month, "--json")
    for _ in range(2):
        finished = up.home.type("refunds", "request", *asked, "--amount", "500")
        assert (finished.code, finished.document["state"]) == (0, "succeeded")
    (back,) = up.world.http.get("/_ledger").json()["refunds"]
    assert (back["key"], back["amount"], back["charge"]) == ("refund:r-1", 500, charge["reference"])


def test_commands_share_the_servers_of_a_running_up(up: Up, order: Parcel) -> None:
    """They neither start their own nor stop the ones they found."""
    servers = [up.home.folder / "postgres" / "data" / "postmaster.pid", up.home.folder / "redis" / "data" / "redis.pid"]
    before = [file.read_text() for file in servers]
    assert up.home.ikkai("points", "show", customer_of(order)).code == 0
    assert [file.read_text() for file in servers] == before
    assert up.post_event(confirmed(order)).json()["duplicates"] == 1


def test_a_second_up_in_the_same_home_is_refused(up: Up, order: Parcel) -> None:
    """It says why, and the first one goes on as if nothing had been."""
    refused = up.home.ikkai("up", "--sandbox")
    assert refused.code == 1
    assert "another ikkai up runs" in refused.err
    assert json.loads(up.home.runtime()) == up.runtime
    assert up.post_event(confirmed(order)).json()["duplicates"] == 1


def test_doctor_says_where_each_setting_comes_from(up: Up) -> None:
    """Ours from the environment, the rest defaults, no secret shown."""
    document = up.home.type("doctor", "--json").document
    origins = {row["name"]: row["from"] for row in document["settings"]}
    assert origins["IKKAI_LEASE_SECONDS"] == "environment"
    assert origins["IKKAI_TIME_ZONE"] == "default"
    assert up.runtime["api_key"] not in json.dumps(document)
