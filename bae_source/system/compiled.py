"""The question whether Python may take a compiled file for that of a source, answered from the header.

magic number, flags, the source's time of modification in whole seconds, its size       4 bytes each; PEP 552
magic number, flags, hash of the source
"""

from __future__ import annotations

import struct

HEADER = 16
"""Bytes."""
_BY_TIME = 0
_CHECKED_BY_HASH = 3
_FIELDS = struct.Struct("<4xIII")
_ALL = 0xFFFFFFFF


def may_pass(header: bytes, *, size: int, since: int) -> bool:
    """Return whether a compiled file may be run instead of a source that it was not made of.

    Parameters:
        header: its first bytes; what has another form may pass.
        size: of the source, in bytes.
        since: the source was not modified before, in whole seconds since the epoch.
    """
    if len(header) < HEADER:
        return True
    flags, modified, length = _FIELDS.unpack_from(header)
    if flags == _BY_TIME:
        # the header has four bytes for the time, so of a source from before 1970 or after 2105 it does not tell
        return bool(length == size & _ALL and (modified >= since or not 0 <= since <= _ALL))
    return bool(flags != _CHECKED_BY_HASH)


def is_taken(header: bytes, *, size: int, modified: int) -> bool:
    """Return whether Python takes a compiled file for a source as it is now: unseen, or by what it compares of the two.

    Parameters:
        header: its first bytes.
        size: of the source, in bytes.
        modified: when the source was, in whole seconds since the epoch.
    """
    if len(header) < HEADER:
        return False  # Python compiles the source
    flags, then, length = _FIELDS.unpack_from(header)
    if flags == _BY_TIME:
        return bool((length, then) == (size & _ALL, modified & _ALL))
    return bool(flags != _CHECKED_BY_HASH)
