"""The command `ikkai`: each context's commands in a file of its name, each calling one use case."""

import sys

from entrypoints.cli.app import run


def main() -> None:
    """The installed script."""
    sys.exit(run(sys.argv[1:]))
