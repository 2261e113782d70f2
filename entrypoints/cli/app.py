"""All commands together, and what their failures look like from outside."""

from collections.abc import Sequence
from typing import Final

import click
import typer

from domain.errors import Malformed, Refused, Unavailable
from entrypoints.cli import customers, database, demo, explain, operations, orders, points, shipping, up
from entrypoints.cli.output import FAILED, INVALID, complain
from entrypoints.container import ServersUnavailable
from entrypoints.settings import InvalidSettings
from entrypoints.supervisor import ProcessFailed

app: Final = typer.Typer(
    name="ikkai",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Order events in, each effect once: points granted, parcels requested, whatever the queue does.",
)
for group, name in (
    (orders.commands, "events"),
    (customers.commands, "customers"),
    (points.commands, "points"),
    (shipping.commands, "shipments"),
    (operations.commands, "operations"),
    (explain.commands, "explain"),
):
    app.add_typer(group, name=name, no_args_is_help=True)
for command in (up.up, up.work, demo.demo, database.migrate, database.doctor):
    app.command()(command)


def run(arguments: Sequence[str]) -> int:
    """Runs one command. Returns: its exit code (contract section 5)."""
    as_json = "--json" in arguments
    try:
        app(list(arguments), standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as help_:
        click.echo(help_.ctx.get_help())
        return INVALID
    except click.ClickException as usage:
        complain(usage.format_message(), as_json=as_json, hint=_help_of(usage))
        return INVALID
    except (click.exceptions.Exit, SystemExit) as exit_:
        code = exit_.exit_code if isinstance(exit_, click.exceptions.Exit) else exit_.code
        return code if isinstance(code, int) else 0
    except (InvalidSettings, Malformed) as invalid:
        complain(str(invalid), as_json=as_json, field=getattr(invalid, "field", None))
        return INVALID
    except Refused as refused:
        complain(str(refused), as_json=as_json, field=refused.field)
        return FAILED
    except (Unavailable, ProcessFailed, ServersUnavailable) as failure:
        complain(str(failure), as_json=as_json)
        return FAILED
    except click.Abort:
        return FAILED
    return 0


def _help_of(usage: click.ClickException) -> str:
    context = getattr(usage, "ctx", None)
    return f" (see: {context.command_path} --help)" if context is not None else ""
