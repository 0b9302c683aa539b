"""The cyclic garbage collector, kept from walking trees that hold no cycles and will be gone in a moment.

Many trees take a half to two thirds longer to make while it looks at them again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
