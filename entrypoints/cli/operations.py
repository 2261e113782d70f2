"""`ikkai operations`: everything outside the database, its state, and a person's decision where one is needed."""

from typing import Annotated, Any, Final

import typer

from domain.operations import Operation
from entrypoints.cli.output import AsJson, print_json, print_table
from entrypoints.container import open_container
from entrypoints.settings import read_settings

commands: Final = typer.Typer(help="Work outside the database: its state, and deciding what is undecided.")

Key = Annotated[str, typer.Argument(help="The operation's key.", show_default=False)]
_COLUMNS: Final = ("key", "kind", "state", "attempts", "reason", "created_at", "next_at")


def summary(operation: Operation) -> dict[str, Any]:
    """One line of `operations list`."""
    return {column: getattr(operation, column) for column in _COLUMNS}


@commands.command(name="list")
def list_(
    state: Annotated[str | None, typer.Option(help="Only operations in this state.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only operations of this kind.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, max=1_000_000, help="At most so many.")] = None,
    as_json: AsJson = False,
) -> None:
    """Operations, the newest first. Example: ikkai operations list --state needs_confirmation"""
    with open_container(read_settings(), broker=False) as container:
        rows = [summary(one) for one in container.read_operations().find(state=state, kind=kind, limit=limit)]
    if as_json:
        print_json(rows)
    else:
        print_table(rows, ("key", "state", "attempts", "reason", "next_at"), empty="no operations")


@commands.command()
def show(key: Key, as_json: AsJson = False) -> None:
    """One operation with its story. Example: ikkai operations show shipment-request:o-1001"""
    with open_container(read_settings(), broker=False) as container:
        operation = container.read_operations().get(key)
        story = list(container.read_operations().story(key))
    if as_json:
        print_json({**summary(operation), "request": operation.content, "result": operation.result, "story": story})
        return
    for name, value in summary(operation).items():
        print(f"{name:<12} {'' if value is None else value}")
    print(f"{'request':<12} {operation.request}")
    print(f"{'result':<12} {dict(operation.result)}")
    print_table(story, ("at", "what", "who", "detail"), empty="not yet tried")


@commands.command()
def retry(
    key: Key, by: Annotated[str, typer.Option(help="Who decides.")] = "operator", as_json: AsJson = False
) -> None:
    """Makes parked work due again under its key. Example: ikkai operations retry shipment-request:o-1001"""
    with open_container(read_settings(), broker=False) as container:
        container.decide_operation().retry(key, by=by)
        operation = container.read_operations().get(key)
    _print_decided(operation, as_json)


@commands.command()
def resolve(
    key: Key,
    by: Annotated[str, typer.Option(help="Who decides.", show_default=False)],
    evidence: Annotated[str, typer.Option(help="What the decision rests on.", show_default=False)],
    happened: Annotated[str | None, typer.Option(metavar="REF", help="It happened; the provider's reference.")] = None,
    did_not_happen: Annotated[bool, typer.Option("--did-not-happen", help="It did not: owed again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Settles a send of unknown fate, with evidence.

    Example: ikkai operations resolve shipment-request:o-1001 --happened P-77 --by mika --evidence "seen at the carrier"
    """
    if (happened is None) is not did_not_happen:
        raise typer.BadParameter("give exactly one of --happened REF and --did-not-happen")
    for name, value in (("--happened", happened), ("--by", by), ("--evidence", evidence)):
        if value is not None and not value.strip():
            raise typer.BadParameter(f"{name} must not be empty")
    with open_container(read_settings(), broker=False) as container:
        operation = container.decide_operation().resolve(key, reference=happened, by=by, evidence=evidence)
    _print_decided(operation, as_json)


def _print_decided(operation: Operation, as_json: bool) -> None:
    if as_json:
        print_json(summary(operation))
    else:
        print(f"{operation.key}: {operation.state} ({operation.reason})")
