"""The lock of a project: one holder at a time, across processes and threads.

Invariants:
- `flock` on a descriptor of its own for each holder: the kernel tells apart processes and also threads of one
  process, and lets go when the holder dies (`lockf` is granted twice within a process, and dropped by any close);
- who waits never writes the file; the holder writes its process id into it, for the message of those who wait;
- a lock file that was removed or replaced meanwhile is not mistaken for the lock.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bae_source.errors import Refused

_PAUSE = 0.01


@contextmanager
def project_lock(
    path: Path,
    *,
    wait: float,
    pid: int,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Hold the lock at `path`, whose folder exists; wait for it at most `wait` seconds.

    Raises:
        Refused: `busy`, naming the process that holds it.
        OSError: the lock file cannot be opened.
    """
    deadline = monotonic() + wait
    while (descriptor := _attempt(path)) is None:
        if monotonic() >= deadline:
            raise _busy(path, wait)
        sleep(_PAUSE)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{pid}\n".encode("ascii"), 0)
        yield
    finally:
        # said, not left to the close: a forked child may still hold the descriptor
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _attempt(path: Path) -> int | None:
    """Take the lock if it is free, and return its descriptor."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(descriptor, path):
            return descriptor
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _is_at(descriptor: int, path: Path) -> bool:
    ours = os.fstat(descriptor)
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)


def _busy(path: Path, wait: float) -> Refused:
    try:
        holder = path.read_text(encoding="ascii").strip() or "unknown"
    except (OSError, UnicodeDecodeError):
        holder = "unknown"
    return Refused(
        "busy",
        f"Process {holder} has been changing this project for more than {wait:g} seconds; nothing was changed.",
        hints=["Try again in a moment.", f"If process {holder} hangs, end it: its lock goes with it."],
        details={"pid": int(holder) if holder.isdigit() else None},
    )
