"""Who a server runs as: the current user, except that PostgreSQL refuses to run as root."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from adapters.embedded.errors import EmbeddedServersUnavailable

ROOT = 0
# The first that exists: the name every PostgreSQL package uses, then the one every system has.
UNPRIVILEGED_NAMES = ("postgres", "nobody")


@dataclass(frozen=True)
class Account:
    """A user of this machine and its first group."""

    user_id: int
    group_id: int

    @classmethod
    def current(cls) -> Self:
        """The user this process runs as."""
        return cls(os.geteuid(), os.getegid())

    @classmethod
    def current_or_unprivileged(cls) -> Self:
        """The current user or, for root, a user who may do nothing else."""
        if os.geteuid() != ROOT:
            return cls.current()
        for name in UNPRIVILEGED_NAMES:
            try:
                entry = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(entry.pw_uid, entry.pw_gid)
        raise EmbeddedServersUnavailable(
            f"PostgreSQL refuses to run as root and this system has no user {' or '.join(UNPRIVILEGED_NAMES)}: "
            "run ikkai as an ordinary user, or set IKKAI_DATABASE_URL"
        )

    @classmethod
    def owner_of(cls, folder: Path) -> Self:
        """Whoever made the folder, so that root never leaves files behind that its owner cannot use.

        Raises: EmbeddedServersUnavailable if the folder is another user's and we are not root.
        """
        status = folder.stat()
        if os.geteuid() not in (ROOT, status.st_uid):
            raise EmbeddedServersUnavailable(
                f"{folder} belongs to user {status.st_uid}, ikkai runs as user {os.geteuid()}: "
                "run it as that user or set IKKAI_HOME to a folder of your own"
            )
        return cls(status.st_uid, status.st_gid)

    @property
    def is_current(self) -> bool:
        """Whether nothing has to be changed to act as this account."""
        return self.user_id == os.geteuid()

    def take(self, path: Path) -> None:
        """Makes the account the owner of what we have just made for it."""
        if not self.is_current:
            os.chown(path, self.user_id, self.group_id)

    def let_through(self, path: Path) -> None:
        """Lets the account pass every folder above `path`; it may not list them.

        Needed for root alone: `mktemp -d` and root's own home are closed to everyone else.
        """
        if self.is_current:
            return
        for folder in path.parents:
            status = folder.stat()
            search_right = self._right(0o1, status)
            if not status.st_mode & search_right:
                folder.chmod(status.st_mode | search_right)

    def let_read(self, installation: Path) -> None:
        """Lets the account read and run an installed program, also when root installed it with a closed umask."""
        if self.is_current:
            return
        self.let_through(installation)
        for path in (installation, *installation.rglob("*")):
            status = path.stat()
            owner_may = (status.st_mode & 0o500) >> 6
            rights = self._right(owner_may, status)
            if status.st_mode & rights != rights:
                path.chmod(status.st_mode | rights)

    def _right(self, bits: int, status: os.stat_result) -> int:
        """The bits at the place in the file's mode where the kernel looks for this account."""
        if status.st_uid == self.user_id:
            return bits << 6
        return bits << 3 if status.st_gid == self.group_id else bits
