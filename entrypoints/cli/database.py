"""`ikkai migrate` and `ikkai doctor`: the schema, and whether this installation is fit to run."""

from typing import Annotated

import typer

from entrypoints.cli.output import FAILED, AsJson, print_json, print_table
from entrypoints.container import open_container, take_migrations
from entrypoints.doctor import examine, settings_with_origin
from entrypoints.settings import read_settings


def migrate(
    check: Annotated[bool, typer.Option("--check", help="Only say whether steps are missing (exit 1).")] = False,
    as_json: AsJson = False,
) -> None:
    """Brings the database's schema up to this program. Example: ikkai migrate --check"""
    before, after, newest = take_migrations(read_settings(), dry=check)
    if as_json:
        print_json({"before": before, "after": after, "newest": newest})
    else:
        print(
            f"the database is at {after or 'nothing'}" + (f", this program needs {newest}" if after != newest else "")
        )
    if after != newest:
        raise typer.Exit(FAILED)


def doctor(as_json: AsJson = False) -> None:
    """Settings with where each came from, and what is unfit to run, with its remedy. Example: ikkai doctor"""
    settings = read_settings()
    with open_container(settings) as container:
        findings = examine(container)
    origins = settings_with_origin(settings)
    if as_json:
        print_json({"settings": origins, "findings": findings})
    else:
        print_table(origins, ("name", "value", "from"), empty="")
        print_table(findings, ("check", "verdict", "remedy"), empty="nothing to mend")
    if any(finding["verdict"] != "ok" for finding in findings):
        raise typer.Exit(FAILED)
