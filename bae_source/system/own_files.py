"""Read a file of our own, whatever may have been put in its place, and write one that is durable.

Invariant: nothing is waited for, as opening a FIFO would, nothing is read without end, as a device would be, and no
link is followed: what is no regular file is an error, like a file that cannot be read.
"""

from __future__ import annotations

import os
import stat
from errno import EINVAL
from typing import TYPE_CHECKING

from bae_source.system.descriptors import CLOSED_IN_CHILDREN, SAFELY

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK = 1 << 20


def content_of(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: it is not there, no regular file, or cannot be read.
    """
    return _read(path, None)


def beginning_of(path: Path, size: int) -> bytes:
    """Return so many of a file's first bytes, or as many as it has.

    Raises:
        OSError: as `content_of`.
    """
    return _read(path, size)


def replace_durably(path: Path, draft: Path, content: bytes) -> None:
    """Write a file anew, whole or not at all; the folder is not synced.

    Raises:
        OSError: it could not be written; the draft is gone then.
    """
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Make a file, or what a folder lists, durable.

    Raises:
        OSError: it could not be done.
    """
    descriptor = os.open(path, os.O_RDONLY | CLOSED_IN_CHILDREN)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path, most: int | None) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | SAFELY)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(EINVAL, "no regular file", str(path))
        found = os.read(descriptor, _CHUNK if most is None else most)
        if most is not None or not found:
            return found
        pieces = [found]
        while piece := os.read(descriptor, _CHUNK):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)
