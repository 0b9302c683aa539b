"""Open files by their numbers: how they are opened, locked and given room, where the system can do that.

Windows has no module `fcntl` and not all flags of `os.open`, and some network file systems have no locks.

Invariants:
- a lock is `flock`'s, so it belongs to the open file: the kernel lets go of it however a process ends;
- nothing is waited for.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from types import ModuleType

_fcntl: ModuleType | None
try:
    import fcntl as _fcntl
except ImportError:
    _fcntl = None
HAS_LOCKS = _fcntl is not None
"""True where this system has locks; a file system of it may have none all the same."""

CLOSED_IN_CHILDREN: int = getattr(os, "O_CLOEXEC", 0)
WITHOUT_LINKS: int = getattr(os, "O_NOFOLLOW", 0)
WITHOUT_WAITING: int = getattr(os, "O_NONBLOCK", 0)
SAFELY = CLOSED_IN_CHILDREN | WITHOUT_LINKS | WITHOUT_WAITING
"""Flags for `os.open`: no child inherits the file, no link is followed, and no FIFO is waited for."""
FOLDER: int = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}


class NoLocks(OSError):
    """The system, or the file system that the file is on, has no locks."""


def lock(descriptor: int, *, shared: bool = False) -> None:
    """Lock an open file.

    Parameters:
        shared: whether others may share it.

    Raises:
        BlockingIOError: another open file has the lock.
        NoLocks: there are none here.
        OSError: what else the system says.
    """
    if _fcntl is None:
        raise NoLocks(errno.ENOSYS, "this system has no file locks")
    try:
        _fcntl.flock(descriptor, (_fcntl.LOCK_SH if shared else _fcntl.LOCK_EX) | _fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise NoLocks(error.errno, "its file system has no locks") from error
        raise


def unlock(descriptor: int) -> None:
    """Let go of the lock of an open file, if it has one."""
    if _fcntl is not None:
        with suppress(OSError):  # where there are no locks
            _fcntl.flock(descriptor, _fcntl.LOCK_UN)


def widen(pipe: int, size: int) -> None:
    """Let a pipe hold so many bytes, where the system allows it, so that its writer has to wait less often."""
    if _fcntl is not None and hasattr(_fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # a limit of this system: it works as it is
            _fcntl.fcntl(pipe, _fcntl.F_SETPIPE_SZ, size)
