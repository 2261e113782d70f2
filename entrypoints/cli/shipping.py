"""`ikkai shipments`: parcels to look at, and one more by hand."""

from dataclasses import asdict
from typing import Annotated, Final

import typer

from domain.operations import Registration
from entrypoints.cli.output import AsJson, print_json, print_table
from entrypoints.container import open_container
from entrypoints.settings import read_settings

commands: Final = typer.Typer(help="Parcels: what became of them, and asking for one by hand.")


@commands.command()
def request(
    order: Annotated[str, typer.Argument(help="A confirmed order's id.", show_default=False)],
    number: Annotated[int, typer.Option(help="Which parcel of the order; the next only when the last is settled.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Asks for a parcel, once; the workers send it. Example: ikkai shipments request o-1001 --number 2"""
    with open_container(read_settings(), broker=False) as container:
        registration = container.request_shipment().execute(order, number)
    if as_json:
        print_json({"order_id": order, "number": number, "requested": registration is Registration.NEW})
    else:
        print(f"parcel {number} of {order}: {'requested' if registration is Registration.NEW else 'already requested'}")


@commands.command(name="list")
def list_(
    state: Annotated[str | None, typer.Option(help="Only parcels in this state.")] = None,
    order: Annotated[str | None, typer.Option(help="Only parcels of this order.")] = None,
    as_json: AsJson = False,
) -> None:
    """Parcels, the newest first. Example: ikkai shipments list --state needs_confirmation"""
    with open_container(read_settings(), broker=False) as container:
        shipments = container.read_shipments().execute(state=state, order_id=order)
    rows = [asdict(shipment) for shipment in shipments]
    if as_json:
        print_json(rows)
    else:
        print_table(rows, ("order_id", "number", "state", "reference", "reason"), empty="no parcels")
