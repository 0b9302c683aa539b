"""The loop in which changes, undo and redo are made while others write the same project.

Invariant: an attempt that lost its place to another change is made anew, and the last one alone, under the lock.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from bae_source.errors import Refused
from bae_source.model.outcome import Outcome

_ATTEMPTS = 5


class Crowded(Exception):
    """An attempt cannot tell what stands while others write; the loop makes it again alone, and no caller sees this."""


def attempted(attempt: Callable[[bool], Outcome], locked: Callable[[], AbstractContextManager[object]]) -> Outcome:
    """Make attempts until one of them succeeds or fails for good.

    Parameters:
        attempt: gets whether the lock is held for it; raises `Crowded` where it must be.
        locked: takes the lock.

    Raises:
        Refused: `stale`, after the last attempt; whatever else an attempt raises.
    """
    alone = False
    for number in range(_ATTEMPTS):
        last = number == _ATTEMPTS - 1
        alone = alone or last
        try:
            with locked() if alone else nullcontext():
                return attempt(alone)
        except Crowded:
            alone = True
        except Refused as error:
            if error.code != "stale" or last:
                raise
    raise AssertionError("the last attempt returns or raises")
