"""The call that has the system write a file to the disk, and does not wait for it, which Python does not offer.

Linux has it as `sync_file_range`; the C library is asked for it once, at the first use.

Invariant: nothing is durable by it. Whoever makes the file durable then has less to wait for, and where the system has
no such call, or does not take it, as much as without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

_WRITE = 2


def start(file: int) -> None:
    """Have what was written to a file go to the disk from now on."""
    _library_call()(file, 0, 0, _WRITE)  # from its beginning to its end


@cache
def _library_call() -> Callable[[int, int, int, int], object]:
    import ctypes  # 5 ms, which who only reads need not pay

    try:
        found = ctypes.CDLL(None).sync_file_range
    except (OSError, AttributeError):
        return lambda *_: None
    found.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    return found
