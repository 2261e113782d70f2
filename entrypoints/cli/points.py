"""`ikkai points`: what customers have, granting by hand, and spending."""

from dataclasses import asdict
from typing import Annotated, Final

import typer

from domain.calendar import instant
from domain.errors import Malformed
from domain.points import whole_points
from entrypoints.cli.output import AsJson, print_json, print_table
from entrypoints.container import open_container
from entrypoints.documents import points_document
from entrypoints.settings import read_settings

commands: Final = typer.Typer(help="Points: what customers have, granting by hand, and spending.")

MAX_DIGITS: Final = 19  # of the largest number of points

Customer = Annotated[str, typer.Argument(help="The customer's id.", show_default=False)]


@commands.command()
def show(customer: Customer, as_json: AsJson = False) -> None:
    """Balance, debt and open lots. Example: ikkai points show c-42"""
    with open_container(read_settings(), broker=False) as container:
        account = container.read_points().account(customer)
    document = points_document(account).model_dump(mode="json")
    if as_json:
        print_json(document)
        return
    print(f"{customer}: {account.balance} points, debt {account.debt}")
    print_table(document["lots"], ("order_id", "reason", "points", "remaining", "expires_on"), empty="no open lots")


@commands.command()
def history(
    customer: Customer,
    as_of: Annotated[str | None, typer.Option(help="Only entries up to this time (with an offset).")] = None,
    as_json: AsJson = False,
) -> None:
    """Every entry in order. Example: ikkai points history c-42 --as-of 2026-10-31T23:59:59+09:00"""
    moment = None if as_of is None else instant("as-of", as_of)
    with open_container(read_settings(), broker=False) as container:
        entries = [asdict(entry) for entry in container.read_points().history(customer, as_of=moment)]
    if as_json:
        print_json(entries)
    else:
        columns = ("at", "kind", "points", "balance_after", "order_id", "reason")
        print_table(entries, columns, empty=f"{customer} has no entries")


@commands.command()
def grant(
    order: Annotated[str, typer.Option(help="The order that earns the points.", show_default=False)],
    customer: Annotated[str, typer.Option(help="Whom they belong to.", show_default=False)],
    points: Annotated[str, typer.Option(help="How many.", show_default=False)],
    reason: Annotated[str | None, typer.Option(help="Why, where not because the order was confirmed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Grants an order's points, once. Example: ikkai points grant --order o-1001 --customer c-42 --points 120"""
    number = _whole("points", points)
    with open_container(read_settings(), broker=False) as container:
        granted = container.grant_order_points().execute(
            order_id=order, customer_id=customer, points=number, reason=reason
        )
    if as_json:
        print_json({"order_id": order, "customer_id": customer, "points": number, "granted": granted})
    else:
        print(f"granted {number} points" if granted else "already granted" if number else "nothing to grant")


@commands.command()
def redeem(
    redemption: Annotated[str, typer.Option(help="The redemption's own id: asked for again, it is the same.")],
    customer: Annotated[str, typer.Option(help="Whose points.")],
    points: Annotated[str, typer.Option(help="How many.")],
    order: Annotated[str | None, typer.Option(help="The order that they are spent on.")] = None,
    as_json: AsJson = False,
) -> None:
    """Spends points, once. Example: ikkai points redeem --redemption r-1 --customer c-42 --points 50 --order o-1002"""
    number = _whole("points", points)
    with open_container(read_settings(), broker=False) as container:
        redeemed = container.redeem_points().execute(
            redemption_id=redemption, customer_id=customer, points=number, order_id=order
        )
    if as_json:
        print_json({"redemption_id": redemption, "customer_id": customer, "points": number, "redeemed": redeemed})
    else:
        print(f"redeemed {number} points" if redeemed else "already redeemed")


def _whole(field: str, text: str) -> int:
    """A number as typed: ASCII digits only, so that 1e3 or 1_000 is not guessed at."""
    if not (text.isascii() and text.isdigit()) or len(text.lstrip("0")) > MAX_DIGITS:
        raise Malformed(field, "must be a whole number")
    return whole_points(field, int(text.lstrip("0")[:MAX_DIGITS] or "0"))
