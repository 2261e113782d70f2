"""Another ikkai process in the same home: it enters, says where the servers are, and leaves when told."""

import json
import subprocess
import sys
from pathlib import Path

from adapters.embedded import ServerUrls
from adapters.embedded.accounts import Account

REPOSITORY = Path(__file__).parents[3]
# A start from nothing takes about a second; a busy machine may need many times that.
DEADLINE_SECONDS = 60

PROGRAM = """
import dataclasses, encodings.idna, json, os, sys
from pathlib import Path
from adapters.embedded import EmbeddedServers

# Only now: root's Python may lie where nobody else can read it.
user, group = map(int, sys.argv[2:])
if os.geteuid() != user:
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)

with EmbeddedServers(Path(sys.argv[1])) as urls:
    print(json.dumps(dataclasses.asdict(urls)), flush=True)
    sys.stdin.read()
"""


class Visitor:
    """Started at once; `urls` waits until it is inside."""

    def __init__(self, home: Path, account: Account | None = None) -> None:
        account = account or Account.current()
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(home), str(account.user_id), str(account.group_id)],
            cwd=REPOSITORY,
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
