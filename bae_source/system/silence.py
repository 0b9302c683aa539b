"""The silence about code that is only read: Python's warnings of an invalid escape in a file, say.

Invariants:
- a process has one set of filters for all threads, so one thread at a time changes them, and they are then as before.
"""

from __future__ import annotations

import warnings
from _thread import allocate_lock  # what threading's Lock is, without the 3 ms that threading takes to load
from collections.abc import Iterator
from contextlib import contextmanager

_LOCK = allocate_lock()


@contextmanager
def unwarned() -> Iterator[None]:
    """Let no warning be printed by what is inside; nothing inside may ask for the same."""
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
