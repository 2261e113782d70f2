"""What all imports have in common: opening the file, sets of records with their lines, and the report."""

import itertools
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, Literal, Protocol

import typer

from domain.errors import Malformed
from entrypoints.cli.output import FAILED, print_json, printable
from entrypoints.progress import progress

SHOWN: Final = 20  # complaints shown to people; --json has all

File = Annotated[str, typer.Argument(help="The file, or - for standard input.", show_default=False)]
Format = Annotated[Literal["auto", "ndjson", "csv"], typer.Option("--format", help="How the file is written.")]
Encoding = Annotated[str | None, typer.Option(help="utf-8, utf-16 or cp932; found out where not given.")]


class Record(Protocol):
    """A row of a file: where it begins, and what it holds or why it cannot be read."""

    @property
    def line(self) -> int: ...
    @property
    def members(self) -> dict[str, Any] | Malformed: ...


@contextmanager
def opened(file: str) -> Iterator[BinaryIO]:
    """The file's bytes. Raises: Malformed for one that cannot be opened."""
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - closed below
    except OSError as failure:
        raise Malformed("file", f"{file}: {failure.strerror}") from None
    with stream:
        yield stream


def in_sets(
    records: Iterable[Record], size: int, label: str
) -> Iterator[tuple[list[int], list[dict[str, Any] | Malformed]]]:
    """Lines and contents in sets of `size`, with a count of rows shown on a terminal."""
    rows = iter(records)
    done = 0
    with progress(label, None) as bar:
        while chunk := list(itertools.islice(rows, size)):
            yield [record.line for record in chunk], [record.members for record in chunk]
            done += len(chunk)
            bar.to(done)


@dataclass
class ImportReport:
    """What an import came to."""

    accepted: int = 0
    duplicates: int = 0
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)

    def finish(self, *, as_json: bool) -> None:
        """Prints it; ends the command with exit code 1 where rows were refused or in conflict."""
        if as_json:
            print_json(asdict(self))
        else:
            print(f"accepted {self.accepted}, duplicates {self.duplicates}, ", end="")
            print(f"conflicts {len(self.conflicts)}, rejected {len(self.rejected)}")
            for row in (self.conflicts + self.rejected)[:SHOWN]:
                print(f"  line {row['line']}: {printable(': '.join(filter(None, (row.get('field'), row['reason']))))}")
            if len(self.conflicts) + len(self.rejected) > SHOWN:
                print("  … (all of them: --json)")
        if self.conflicts or self.rejected:
            raise typer.Exit(FAILED)
