"""Read a file of our own, whatever may have been put in its place.

Invariant: nothing is waited for, as opening a FIFO would, nothing is read without end, as a device would be, and no
link is followed: what is no regular file is an error, like a file that cannot be read.
"""

from __future__ import annotations

import os
import stat
from errno import EINVAL
from typing import TYPE_CHECKING

from bae_source.system.descriptors import SAFELY

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK = 1 << 20


def content_of(path: Path) -> bytes:
    """Return what a file holds.

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
