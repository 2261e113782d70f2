"""A home for each test, which nothing may outlive."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest


def standing_in(home: Path) -> list[psutil.Process]:
    """Every living process at work anywhere in the home."""
    return [
        process
        for process in psutil.process_iter(["cwd", "name", "ppid", "uids"])
        if Path(process.info["cwd"] or "/").is_relative_to(home)
    ]


def servers_of(home: Path) -> set[psutil.Process]:
    """The servers, without the processes that PostgreSQL starts for itself, many of which end at any moment."""
    standing = standing_in(home)
    return {process for process in standing if process.info["ppid"] not in {parent.pid for parent in standing}}


def users_in(home: Path) -> set[int]:
    """Who the processes in the home run as."""
    return {process.info["uids"].effective for process in standing_in(home)}


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder closed to everyone else and, as `mktemp -d` makes it, with a short path."""
    folder = Path(tempfile.mkdtemp(prefix="home-")).resolve()
    yield folder
    left_over = standing_in(folder)
    for process in left_over:
        process.kill()
    psutil.wait_procs(left_over)
    shutil.rmtree(folder, ignore_errors=True)
    assert not left_over, "servers outlived their last user"
