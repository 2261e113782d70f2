"""`ikkai explain`: why things are as they are, from event to parcel."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer

from domain.errors import Refused
from domain.keys import identifier
from domain.orders.rules import Order
from domain.payments import CHARGE, REFUND
from domain.shipping import CANCEL, REQUEST
from entrypoints.cli.billing import bill_row
from entrypoints.cli.operations import summary
from entrypoints.cli.output import AsJson, print_json, print_table
from entrypoints.cli.payments import refund_row
from entrypoints.container import Container, open_container
from entrypoints.settings import read_settings

commands: Final = typer.Typer(help="The whole causal chain of an order, a customer or a key.")

Value = Annotated[str, typer.Argument(help="The id or key.", show_default=False)]


@commands.command()
def order(value: Value, as_json: AsJson = False) -> None:
    """An order: its events, state, points and parcels. Example: ikkai explain order o-1001"""
    order_id = identifier("order_id", value)
    with open_container(read_settings(), broker=False) as container:
        known = container.read_orders().get(order_id)
        events = container.read_orders().events(subject=order_id, of_customers=False)
        if known is None and not events:
            raise Refused(f"no order {order_id} is known", field="order_id")
        entries: list[dict[str, Any]] = []
        if known is not None and known.customer_id is not None:
            history = container.read_points().history(known.customer_id)
            entries = [asdict(entry) for entry in history if entry.order_id == order_id]
        operations = _operations(container, order_id, (REQUEST, CANCEL))
    _print(
        {
            "order": {} if known is None else _state(known),
            "events": _oldest_first(events),
            "points": entries,
            "operations": operations,
        },
        as_json,
    )


@commands.command()
def customer(value: Value, as_json: AsJson = False) -> None:
    """A customer: points with their history, bills, and the news of them. Example: ikkai explain customer c-42"""
    customer_id = identifier("customer_id", value)
    with open_container(read_settings(), broker=False) as container:
        account = container.read_points().account(customer_id)
        entries = [asdict(entry) for entry in container.read_points().history(customer_id)]
        events = container.read_orders().events(subject=customer_id, of_customers=True)
        billed = container.read_bills().of_customer(customer_id)
        operations = _operations(container, customer_id, (CHARGE, REFUND))
    points = {"customer_id": customer_id, "balance": account.balance, "debt": account.debt}
    lots = [asdict(lot) for lot in account.lots]
    _print(
        {
            "customer": points,
            "lots": lots,
            "points": entries,
            "bills": [bill_row(bill) for bill in billed.bills],
            "bill lines": [dict(line) for line in billed.lines],
            "taxes": [dict(tax) for tax in billed.taxes],
            "refunds": [refund_row(refund) for refund in billed.refunds],
            "operations": operations,
            "events": _oldest_first(events),
        },
        as_json,
    )


@commands.command()
def key(value: Value, as_json: AsJson = False) -> None:
    """One operation: event, attempts, decisions. Example: ikkai explain key shipment-request:o-1"""
    with open_container(read_settings(), broker=False) as container:
        operation = container.read_operations().get(value)
        of_customers = operation.kind in (CHARGE, REFUND)
        events = container.read_orders().events(subject=operation.subject, of_customers=of_customers)
        story = list(container.read_operations().story(value))
    document = {
        "operation": {**summary(operation), "request": operation.content, "result": dict(operation.result)},
        "events": _oldest_first(events),
        "story": story,
    }
    _print(document, as_json)


def _state(order: Order) -> dict[str, Any]:
    shown = asdict(order)
    del shown["content"], shown["position"], shown["total"]
    revision = None if order.position is None else order.position.revision
    money = {} if order.total is None else {"total": order.total.amount, "currency": order.total.currency}
    return {**shown, "revision": revision, **money}


def _operations(container: Container, subject: str, kinds: Collection[str]) -> list[dict[str, Any]]:
    """What was to happen outside for an order or a customer; one may have the id of another."""
    read = container.read_operations()
    found = [one for one in read.find(subject=subject) if one.kind in kinds]
    return [{**summary(one), "story": list(read.story(one.key))} for one in reversed(found)]


def _oldest_first(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(event) for event in events][::-1]


def _print(document: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    for title, part in document.items():
        print(f"\n{title}")
        if isinstance(part, Mapping):
            for name, value in part.items():
                print(f"  {name:<14} {'' if value is None else value}")
        else:
            rows = [{**row, "story": _told(row["story"])} if "story" in row else row for row in part]
            columns = [name for name in (rows[0] if rows else ()) if name not in ("data", "next_at", "created_at")]
            print_table(rows, columns, empty="  none")


def _told(story: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(f"{step['at']:%H:%M:%S.%f} {step['what']} {step['detail'] or ''}".strip() for step in story)
