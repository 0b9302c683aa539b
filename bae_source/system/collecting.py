"""The pause of the garbage collector, and of giving memory back, while tree after tree is built and dropped.

Trees hold no cycles; they take a half to two thirds longer to make while the cyclic collector looks at them again and
again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_LARGE = 16 << 20
"""Bytes; glibc learns nothing from blocks of more than twice as many."""


@contextmanager
def collector_off() -> Iterator[None]:
    """Do without the cyclic collector for a while; it is as before afterwards."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@cache  # once a process: such a block no longer costs nothing when the library has learned to keep it
def keep_memory() -> None:
    """Have the C library keep what is let go of, in a process that is ours: the next request needs it at once.

    glibc gives large blocks back to the system, which has to clear them before they come again. From which size on, it
    learns from the largest one that was let go of; one that is never written to costs nothing. Other libraries learn
    nothing from it.
    """
    bytes(_LARGE)
