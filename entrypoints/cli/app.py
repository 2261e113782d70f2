"""All commands together, and what their failures look like from outside."""

import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Final

import typer

from domain.errors import Malformed, Refused, Unavailable
from entrypoints.cli import (
    billing,
    customers,
    database,
    demo,
    explain,
    operations,
    orders,
    payments,
    points,
    shipping,
    up,
)
from entrypoints.cli.output import FAILED, INVALID, complain
from entrypoints.container import ServersUnavailable
from entrypoints.settings import InvalidSettings
from entrypoints.supervisor import ProcessFailed

app: Final = typer.Typer(
    name="ikkai",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Order events in, each effect once: points, bills, parcels, whatever the queue does.",
)
for group, name in (
    (orders.commands, "events"),
    (customers.commands, "customers"),
    (points.commands, "points"),
    (billing.subscriptions, "subscriptions"),
    (billing.items, "items"),
    (billing.commands, "billing"),
    (payments.commands, "refunds"),
    (shipping.commands, "shipments"),
    (operations.commands, "operations"),
    (explain.commands, "explain"),
):
    app.add_typer(group, name=name, no_args_is_help=True)
for command in (up.up, up.work, demo.demo, database.migrate, database.doctor):
    app.command()(command)


def run(arguments: Sequence[str]) -> int:
    """Runs one command. Returns: its exit code (README, Operations)."""
    as_json = "--json" in arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show must not end a command
    for place, argument in enumerate(arguments, start=1):
        if not argument.isascii() and argument != argument.encode(errors="replace").decode():
            complain(f"argument {place} is not UTF-8", as_json=as_json)
            return INVALID
    try:
        app(list(arguments))
    except SystemExit as ended:  # typer has said what was wrong with the usage (2), or a command gave its code
        return ended.code if isinstance(ended.code, int) else FAILED
    except (InvalidSettings, Malformed) as invalid:
        complain(str(invalid), as_json=as_json, field=getattr(invalid, "field", None))
        return INVALID
    except Refused as refused:
        complain(str(refused), as_json=as_json, field=refused.field)
        return FAILED
    except (Unavailable, ProcessFailed, ServersUnavailable) as failure:
        complain(str(failure), as_json=as_json)
        return FAILED
    return 0
