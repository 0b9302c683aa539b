"""The two renames that Python does not offer: exchange two files in one step, and rename without replacing anything.

Linux has them as `renameat2`, macOS as `renameatx_np`; they are looked up in the C library once, at the first use.

Invariant: where the system or the file system has no such call, OSError with one of `MISSING` is raised and nothing has
happened; the caller decides what to do instead.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache

MISSING = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})

_CALL, _NEW, _EXCHANGE = ("renameatx_np", 4, 2) if sys.platform == "darwin" else ("renameat2", 1, 2)


def exchange(source: str, target: str, source_folder: int, target_folder: int) -> None:
    """Exchange two files, each named in a folder that is open by descriptor; at no moment is either name without one.

    Raises:
        OSError: one of them is missing, they lie on different devices, or there is no such call.
    """
    _rename(source, target, source_folder, target_folder, _EXCHANGE)


def rename_new(source: str, target: str, source_folder: int, target_folder: int) -> None:
    """Rename a file to a name that must be free.

    Raises:
        OSError: FileExistsError if it is not, or there is no such call.
    """
    _rename(source, target, source_folder, target_folder, _NEW)


def _rename(source: str, target: str, source_folder: int, target_folder: int, flag: int) -> None:
    number = _library_call()(source_folder, os.fsencode(source), target_folder, os.fsencode(target), flag)
    if number:
        raise OSError(number, os.strerror(number), target)


@cache
def _library_call() -> Callable[[int, bytes, int, bytes, int], int]:
    """Return the call of the C library as a function that returns an error number, 0 for success."""
    import ctypes  # 5 ms, which who only reads need not pay

    try:
        found = getattr(ctypes.CDLL(None, use_errno=True), _CALL)
    except (OSError, AttributeError):
        return lambda *_: errno.ENOSYS
    found.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def call(source_folder: int, source: bytes, target_folder: int, target: bytes, flag: int) -> int:
        return ctypes.get_errno() if found(source_folder, source, target_folder, target, flag) else 0

    return call
