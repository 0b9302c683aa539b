"""The lock of a project: one holder at a time, across processes and threads.

Invariants:
- `flock` on a descriptor of its own for each holder: the kernel tells apart processes and also threads of one
  process, and lets go when the holder dies (`lockf` is granted twice within a process, and dropped by any close);
- a forked child never has part in it: what it inherits is replaced in it, so that the lock goes with the holder even
  if children of his live on;
- who waits never writes the file; it holds the holder's process id, for the message of those who wait, and its mark,
  by which whoever comes after its death finds what it left running;
- a lock file that was removed or replaced meanwhile is not mistaken for the lock, and `Lock.is_valid` says so to who
  holds it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bae_source.errors import Refused
from bae_source.state.holder_mark import holder_mark
from bae_source.state.reading import beginning_of

_SHORTEST, _LONGEST = 0.0005, 0.01
_WIDTH = 40
_Inode = tuple[int, int]
_taken: set[int] = set()


class Lock:
    """The lock, held.

    Parameters:
        file: its descriptor.
        path: where its file is.
        inode: device and number of that file.
        last: process id and mark of who held it last; None and nothing where that is not known.
    """

    def __init__(self, file: int, path: str, inode: _Inode, last: tuple[int | None, str]) -> None:
        self.last = last
        self._file = file
        self._path = path
        self._inode = inode

    @property
    def descriptor(self) -> int:
        """The descriptor of its file; a program that is started with it keeps the lock until it ends as well."""
        return self._file

    def is_valid(self) -> bool:
        """Say whether the lock file is still the one that is held; False also in a forked child."""
        return self._file in _taken and _is_at(self._path, self._inode)


@contextmanager
def project_lock(
    path: Path,
    *,
    wait: float,
    pid: int,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Lock]:
    """Hold the lock at `path`, whose folder exists; wait for it at most `wait` seconds.

    Raises:
        Refused: `busy`, naming the process that holds it.
        OSError: the lock file cannot be opened.
    """
    place = str(path)
    deadline, pause = None, _SHORTEST
    while (attempt := _attempt(place)) is None:
        now = monotonic()
        deadline = now + wait if deadline is None else deadline
        if now >= deadline:
            raise busy(path, wait)
        sleep(pause)
        pause = min(pause * 2, _LONGEST)
    descriptor, inode = attempt
    try:
        found, ours = os.pread(descriptor, _WIDTH, 0), f"{pid} {holder_mark()}\n".ljust(_WIDTH).encode("ascii")
        if found != ours:
            os.pwrite(descriptor, ours, 0)
        yield Lock(descriptor, place, inode, _holder_in(found))
    finally:
        release(descriptor)


def take(descriptor: int) -> bool:
    """Lock an open file, or say that another holder has it; `release` unlocks and closes it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    _taken.add(descriptor)
    return True


def release(descriptor: int) -> None:
    """Unlock and close a file that `take` locked; in a forked child there is nothing to do."""
    if descriptor in _taken:
        _taken.discard(descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def is_orphaned(path: Path) -> bool:
    """Say whether the process that wrote itself into the lock file is dead, so that the lock is about to be free.

    It may take a moment, if a child that was just being started has not let go yet of what it inherited.
    """
    holder = _holder(path)
    return holder is not None and is_dead(holder)


def is_dead(process: int) -> bool:
    """Say whether there is no such process, or one that has ended and nobody has asked how."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False  # somebody else's, or no process id at all
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][:1] in ("Z", "X")
    except (OSError, UnicodeDecodeError):
        return False  # the system does not tell


def busy(path: Path, wait: float) -> Refused:
    """Return the refusal that names the holder."""
    pid = _holder(path)
    holder = "unknown" if pid is None else pid
    return Refused(
        "busy",
        f"Process {holder} has been changing this project for more than {wait:g} seconds; nothing was changed.",
        hints=["Try again in a moment.", f"If process {holder} hangs, end it: its lock goes with it."],
        details={"pid": pid},
    )


def _holder(path: Path) -> int | None:
    try:
        return _holder_in(beginning_of(path, _WIDTH))[0]
    except OSError:
        return None


def _holder_in(content: bytes) -> tuple[int | None, str]:
    """Return the process id and the mark that a lock file holds; None and nothing where they cannot be read."""
    number, mark, *_ = [*content.split(), b"", b""]
    return int(number) if number.isdigit() else None, mark.decode("ascii") if mark.isalnum() else ""


def _attempt(path: str) -> tuple[int, _Inode] | None:
    """Take the lock if it is free, and return its descriptor, and which file that is."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    is_taken = False
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):  # what is written to it would tell nobody who holds it
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        is_taken = take(descriptor)
    finally:
        if not is_taken:
            os.close(descriptor)
    if not is_taken:
        return None
    inode = (status.st_dev, status.st_ino)
    if _is_at(path, inode):
        return descriptor, inode
    release(descriptor)
    return None


def _is_at(path: str, inode: _Inode) -> bool:
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == inode


def _part() -> None:
    """Give up, in a forked child, what its parent holds; the numbers stay taken, so that nobody else gets them."""
    if _taken:
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for descriptor in _taken:
            os.dup2(nothing, descriptor, inheritable=False)
        os.close(nothing)
        _taken.clear()


os.register_at_fork(after_in_child=_part)
