"""Another ikkai process in the same home: it enters, says where the servers are, and leaves when told."""

import json
import subprocess
import sys
from pathlib import Path

from adapters.embedded.accounts import Account
from adapters.embedded.servers import ServerUrls

REPOSITORY = Path(__file__).parents[3]
# A start from nothing takes about a second; a busy machine may need many times that.
DEADLINE_SECONDS = 60

PROGRAM = """
import dataclasses, json, sys
from pathlib import Path
from adapters.embedded.servers import EmbeddedServers

with EmbeddedServers(Path(sys.argv[1])) as urls:
    print(json.dumps(dataclasses.asdict(urls)), flush=True)
    sys.stdin.read()
"""


class Visitor:
    """Started at once; `urls` waits until it is inside."""

    def __init__(self, home: Path, account: Account | None = None) -> None:
        account = account or Account.current()
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(home)],
            cwd=REPOSITORY,
            user=None if account.is_current else account.user_id,
            group=None if account.is_current else account.group_id,
            extra_groups=None if account.is_current else [],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A foreground process group of its own, as a terminal gives to each command.
            start_new_session=True,
        )

    def urls(self) -> ServerUrls:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        return ServerUrls(**json.loads(line))

    def leave(self) -> None:
        """Raises: AssertionError if it does not leave in good order."""
        _, errors = self.process.communicate("", timeout=DEADLINE_SECONDS)
        assert self.process.returncode == 0, errors

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=DEADLINE_SECONDS)
