"""How one file's bytes are read, and what is said where they cannot be.

Invariants:
- only what is a regular file is read, and nothing that is opened can make us wait;
- no more than `LARGEST` is read at once: of a larger file nothing could be parsed, and it may be one without an end;
- a file that grows meanwhile is read to its end, and one that is written meanwhile is read again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from errno import EFBIG
from operator import attrgetter

from bae_source.errors import Refused, SourceError
from bae_source.system.descriptors import CLOSED_IN_CHILDREN, WITHOUT_LINKS, WITHOUT_WAITING

LARGEST = 256_000_000
_FLAGS = os.O_RDONLY | CLOSED_IN_CHILDREN | WITHOUT_WAITING
_PIECE = 1 << 20
_TRIES = 3
_WRITTEN = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns")


def bytes_of(full: str, flags: int = 0) -> tuple[bytes, os.stat_result]:
    """Return a regular file's bytes, and its status from before they were read.

    Parameters:
        full: absolute path.
        flags: for `open`, besides those that are always set.

    Raises:
        FileNotFoundError: what is there is no regular file.
        OSError: what the system says.
    """
    descriptor = os.open(full, _FLAGS | flags)
    try:
        for _ in range(_TRIES):
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise FileNotFoundError(full)
            if status.st_size > LARGEST:
                raise OSError(EFBIG, os.strerror(EFBIG), full)
            content = _read(descriptor, status.st_size)
            if _WRITTEN(os.fstat(descriptor)) == _WRITTEN(status):
                break
            os.lseek(descriptor, 0, os.SEEK_SET)  # what was read may be half of the old text and half of the new
    finally:
        os.close(descriptor)
    return content, status


def _read(descriptor: int, size: int) -> bytes:
    pieces = [os.read(descriptor, size + 1)]
    while pieces[-1] and (len(pieces) > 1 or len(pieces[0]) != size):
        if sum(map(len, pieces)) > LARGEST:
            raise OSError(EFBIG, os.strerror(EFBIG))
        pieces.append(os.read(descriptor, _PIECE))
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def pieces_of(full: str) -> Iterator[bytes]:
    """Yield a regular file's bytes piece by piece, for one that may be gigantic.

    Parameters:
        full: absolute path.

    Raises:
        FileNotFoundError: what is there is no regular file.
        OSError: what the system says.
    """
    descriptor = os.open(full, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(full)
        while piece := os.read(descriptor, _PIECE):
            yield piece
    finally:
        os.close(descriptor)


def glanced(full: str, size: int) -> bytes | None:
    """Return the bytes of what was a regular file of that size a moment ago; None if they are not as many any more.

    The file is not asked what else it is, which takes half the time of `bytes_of`.
    """
    if not size:
        return b""  # as it was
    if size > LARGEST:
        return None
    try:
        descriptor = os.open(full, _FLAGS | WITHOUT_LINKS)
    except OSError:
        return None
    try:
        content = os.read(descriptor, size + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content if len(content) == size else None


def gone() -> Refused:
    """Return the refusal of a file that is there no more, though it was when the project was looked at."""
    return Refused("stale", "has gone while the project was read.", subject="The file", hints=["Ask again."])


def told(error: OSError) -> Exception:
    """Return what the system says of a file that cannot be read in our words."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return FileNotFoundError(*error.args)
    if isinstance(error, PermissionError):
        return Refused("forbidden", "may not be read.", subject="The file", hints=["Check its permissions."])
    if error.errno == EFBIG:
        return SourceError("not_lossless", f"has more than {LARGEST:,} bytes.", subject="The file")
    reason = f"cannot be read: {error.strerror or 'the disk refuses'}."
    return Refused("forbidden", reason, subject="The file", hints=["Check the disk."])
