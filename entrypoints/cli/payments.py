"""`ikkai refunds`: money of a bill that goes back."""

from typing import Annotated, Any, Final

import typer

from domain.errors import Malformed
from domain.operations import State
from domain.payments import Refund, RefundState
from entrypoints.cli.output import FAILED, WAITING, AsJson, print_json, print_table
from entrypoints.container import open_container
from entrypoints.settings import read_settings

commands: Final = typer.Typer(help="Refunds: money of a bill that goes back.")

MAX_DIGITS: Final = 19  # of the largest amount


@commands.callback()
def _group() -> None:
    """Refunds: money of a bill that goes back."""


@commands.command()
def request(
    refund: Annotated[str, typer.Option(help="The refund's own id: asked for again, it is the same.")],
    customer: Annotated[str, typer.Option(help="Who gets it.")],
    month: Annotated[str, typer.Option(help="Of which month's bill.")],
    amount: Annotated[str | None, typer.Option(help="How much, in minor units; what remains, where not given.")] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not wait for the provider.")] = False,
    as_json: AsJson = False,
) -> None:
    """Gives money of a bill back, once. Example: ikkai refunds request --refund r-7 --customer c-42 --month 2026-10"""
    asked = None if amount is None else _whole(amount)
    with open_container(read_settings(), broker=False) as container:
        report = container.send_refund().execute(refund, customer, month, asked, wait=not no_wait)
    row = {**refund_row(report.refund), "reason": report.operation.reason}
    if as_json:
        print_json(row)
    else:
        print_table([row], ("refund_id", "amount", "currency", "state", "reference", "reason"), empty="")
    if report.refund.state is RefundState.FAILED or (not no_wait and report.is_left):
        raise typer.Exit(FAILED)
    if report.operation.state is State.NEEDS_CONFIRMATION:
        raise typer.Exit(WAITING)


def refund_row(refund: Refund) -> dict[str, Any]:
    """A refund as a line of a list."""
    return {
        "refund_id": refund.refund_id,
        "customer_id": refund.customer_id,
        "month": refund.month,
        "amount": refund.money.amount,
        "currency": refund.money.currency,
        "state": refund.state,
        "origin": refund.origin,
        "reference": refund.reference,
        "key": refund.key,
    }


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS:
        raise Malformed("amount", "must be a whole number of minor units")
    return int(text)
