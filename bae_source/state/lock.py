"""The lock of a project: one holder at a time, across processes and threads.

Invariants:
- `flock` on a descriptor of its own for each holder: the kernel tells apart processes and also threads of one
  process, and lets go when the holder dies (`lockf` is granted twice within a process, and dropped by any close);
- a forked child never has part in it: what it inherits is replaced in it, so that the lock goes with the holder even
  if children of his live on;
- who waits never writes the file; it holds the holder's process id, for the message of those who wait;
- a lock file that was removed or replaced meanwhile is not mistaken for the lock, and `Lock.is_valid` says so to who
  holds it.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from contextlib import ExitStack
from io import FileIO
from pathlib import Path

from bae_source.errors import Refused
from bae_source.system.descriptors import CLOSED_IN_CHILDREN, HAS_LOCKS, SAFELY, WITHOUT_LINKS, NoLocks, lock, unlock
from bae_source.system.own_files import beginning_of

_SHORTEST, _LONGEST = 0.0005, 0.01
_WIDTH = 40
_Inode = tuple[int, int]
descriptors: set[int] = set()
"""Those of the locks that this process holds, which a forked child gives up."""


class Taken:
    """An open file that is locked until `release`, or until this object goes, as where Ctrl-C came before that.

    Ctrl-C may come between any two steps: it is held until its file is closed, and that alone closes its number, once.

    Parameters:
        file: just locked, or about to be.
    """

    _pid = 0  # until it is whole

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.descriptor = file.fileno()
        self._pid = os.getpid()
        descriptors.add(self.descriptor)

    def __del__(self) -> None:
        self.release()

    @property
    def is_held(self) -> bool:
        """Return whether the lock is still held; never in a forked child."""
        return self._pid == os.getpid() and not self._file.closed

    def release(self) -> None:
        """Unlock and close it, the first time; in a forked child there is nothing to do."""
        if self.is_held:
            descriptors.discard(self.descriptor)  # before another file may get the number
            unlock(self.descriptor)
            self._file.close()


class Lock:
    """The lock, held until its context ends.

    Parameters:
        taken: its file.
        path: where that is.
        inode: device and number of it.
    """

    def __init__(self, taken: Taken, path: str, inode: _Inode) -> None:
        self._taken = taken
        self._path = path
        self._inode = inode

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def descriptor(self) -> int:
        """The descriptor of its file; a program that is started with it keeps the lock until it ends as well."""
        return self._taken.descriptor

    @property
    def is_held(self) -> bool:
        """Return whether the lock was not let go yet; never in a forked child."""
        return self._taken.is_held

    def is_valid(self) -> bool:
        """Return whether the lock file is still the one that is held; False also in a forked child."""
        return self._taken.is_held and _is_at(self._path, self._inode)

    def sign(self, pid: int) -> None:
        """Write the holder's process id, unless that is there."""
        ours = f"{pid}\n".ljust(_WIDTH).encode("ascii")
        if os.pread(self.descriptor, _WIDTH, 0) != ours:
            os.pwrite(self.descriptor, ours, 0)

    def release(self) -> None:
        """Let others in."""
        self._taken.release()


def project_lock(
    path: Path,
    *,
    wait: float,
    pid: int,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Lock:
    """Take the lock at `path`, whose folder exists; wait for it at most `wait` seconds.

    Raises:
        Refused: `busy`, naming the process that holds it.
        NoLocks: there are no locks here.
        OSError: the lock file cannot be opened.
    """
    place = str(path)
    deadline, pause = None, _SHORTEST
    while (lock_there := _attempt(place)) is None:
        now = monotonic()
        deadline = now + wait if deadline is None else deadline
        if now >= deadline:
            raise busy(path, wait)
        sleep(pause)
        pause = min(pause * 2, _LONGEST)
    with ExitStack() as if_it_fails:
        if_it_fails.callback(lock_there.release)
        lock_there.sign(pid)
        if_it_fails.pop_all()
    return lock_there


def take(descriptor: int) -> Taken | None:
    """Lock an open file; where that fails, or another holder has it (None), it is closed."""
    taken = Taken(FileIO(descriptor, "r+"))
    with ExitStack() as if_it_fails:
        if_it_fails.callback(taken.release)
        try:
            lock(descriptor)
        except BlockingIOError:
            return None
        if_it_fails.pop_all()
    return taken


def is_held_now(path: Path) -> bool | None:
    """Return whether a lock is held, by trying to share it for a moment; a process that wants it whole tries again.

    Returns:
        None where there are no locks.
    """
    if not HAS_LOCKS:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | SAFELY)
    except OSError:
        return False  # there is none, or it is not for us to read
    try:
        lock(descriptor, shared=True)
        unlock(descriptor)
    except BlockingIOError:
        return True
    except NoLocks:
        return None
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def busy(path: Path | None, wait: float) -> Refused:
    """Return the refusal that names the holder; None where the path has another lock file by now."""
    pid = None if path is None else _holder(path)
    holder = "unknown" if pid is None else pid
    return Refused(
        "busy",
        f"Process {holder} has been changing this project for more than {wait:g} seconds",
        unchanged=True,
        hints=["Try again in a moment.", f"If process {holder} hangs, end it: its lock goes with it."],
        details={"pid": pid},
    )


def _holder(path: Path) -> int | None:
    """Return the process id that a lock file holds; None where it cannot be read."""
    try:
        number, *_ = [*beginning_of(path, _WIDTH).split(), b""]
    except OSError:
        return None
    return int(number) if number.isdigit() else None


def _attempt(path: str) -> Lock | None:
    """Take the lock if it is free."""
    taken = take(os.open(path, os.O_RDWR | os.O_CREAT | CLOSED_IN_CHILDREN | WITHOUT_LINKS, 0o666))
    if taken is None:
        return None
    with ExitStack() as unless_it_is_ours:
        unless_it_is_ours.callback(taken.release)
        status = os.fstat(taken.descriptor)
        if not stat.S_ISREG(status.st_mode):  # what is written to it could not be read back
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        inode = (status.st_dev, status.st_ino)
        if _is_at(path, inode):
            unless_it_is_ours.pop_all()
            return Lock(taken, path, inode)
    return None


def _is_at(path: str, inode: _Inode) -> bool:
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == inode


def _part() -> None:
    """Give up, in a forked child, what its parent holds; the numbers stay taken, so that no other file gets them."""
    if descriptors:
        nothing = os.open(os.devnull, os.O_RDWR | CLOSED_IN_CHILDREN)
        for descriptor in descriptors:
            os.dup2(nothing, descriptor, inheritable=False)
        os.close(nothing)
        descriptors.clear()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_part)
