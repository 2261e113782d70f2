"""What commands print: never more than text, whatever they quote."""

import pytest

from entrypoints.cli.app import run
from entrypoints.cli.output import INVALID, complain, print_table

RED = "\x1b[31mred\x07"


def test_a_complaint_moves_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """A file may hold whatever it likes."""
    complain(f"{RED}: stands twice", as_json=False)
    assert capsys.readouterr().err == "ikkai: \\x1b[31mred\\x07: stands twice\n"


def test_a_cell_of_a_table_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    """So may the answer of another machine; lines of a story stay lines."""
    print_table([{"reason": f"{RED}\nsecond line"}], ("reason",), empty="")
    shown = capsys.readouterr().out
    assert "\x1b" not in shown.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert any("second line" in line and "red" not in line for line in shown.splitlines())


def test_an_argument_that_is_no_text_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """By its place; nothing is done."""
    assert run(["points", "show", b"\xff".decode(errors="surrogateescape")]) == INVALID
    assert capsys.readouterr().err == "ikkai: argument 3 is not UTF-8\n"


def test_more_than_can_be_counted_is_refused() -> None:
    """By the command line, not by the database."""
    assert run(["operations", "list", "--limit", "9" * 30]) == INVALID
