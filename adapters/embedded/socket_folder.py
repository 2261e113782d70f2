"""Where a Unix socket lies: in the home or, as the kernel limits the length of its path, in a short one elsewhere."""

import re
import shutil
import tempfile
from pathlib import Path
from stat import S_ISDIR

from adapters.embedded.accounts import Account

# The shortest of our systems: macOS gives 104 bytes for the path, its final NUL included; Linux gives 108.
SOCKET_PATH_BYTES = 103
# Anything else would have to be quoted in the settings, in the URL and by whoever copies it, each in its own way.
PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]+")
# What mkdtemp adds to its parent.
SHORT_NAME_BYTES = len("/ikkai-12345678/")


class SocketFolder:
    """A private folder for the socket of the server in `folder`, the same for all processes and after any crash."""

    def __init__(self, folder: Path, socket_name: str) -> None:
        self._folder = folder
        self._inside = folder / "run"
        self._folder_bytes = SOCKET_PATH_BYTES - len(f"/{socket_name}")
        self._fits = _can_be_named(self._inside, self._folder_bytes)
        self._memory = folder / "socket-folder"

    def path(self) -> Path:
        """Raises: FileNotFoundError if none has been prepared."""
        if self._fits:
            return self._inside
        short, _, made_for = self._memory.read_bytes().partition(b"\n")
        # A copied or moved home must not take the socket of the one it came from.
        if made_for != bytes(self._folder):
            raise FileNotFoundError(f"{self._memory} is not ours")
        return Path(short.decode())

    def prepare(self, account: Account) -> Path:
        """Has a folder that only the account, and root, can enter; keeps the one there is."""
        if self._fits:
            self._inside.mkdir(mode=0o700, exist_ok=True)
            account.take(self._inside)
            path = self._inside
        else:
            path = self._remembered(account) or self._make_short(account)
        account.let_through(path)
        return path

    def forget(self) -> None:
        """Clears away what lies outside the home."""
        if not self._fits:
            try:
                shutil.rmtree(self.path(), ignore_errors=True)
            except FileNotFoundError:
                return
            self._memory.unlink()

    def _remembered(self, account: Account) -> Path | None:
        """The short folder of an earlier start, if nobody has cleared it away or put another in its place."""
        try:
            path = self.path()
            status = path.lstat()
        except FileNotFoundError:
            return None
        return path if S_ISDIR(status.st_mode) and status.st_uid == account.user_id else None

    def _make_short(self, account: Account) -> Path:
        temporary = Path(tempfile.gettempdir()).resolve()
        # TMPDIR may itself be long; POSIX has this one everywhere.
        parent = temporary if _can_be_named(temporary, self._folder_bytes - SHORT_NAME_BYTES) else Path("/tmp")
        path = Path(tempfile.mkdtemp(prefix="ikkai-", dir=parent))
        account.take(path)
        self._memory.write_bytes(bytes(path) + b"\n" + bytes(self._folder))
        return path


def _can_be_named(path: Path, limit_bytes: int) -> bool:
    return len(bytes(path)) <= limit_bytes and PLAIN_PATH.fullmatch(str(path)) is not None
