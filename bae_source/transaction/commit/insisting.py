"""Do what has to be done although somebody presses Ctrl-C meanwhile, or although the disk fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def undisturbed(action: Callable[[], T]) -> T:
    """Finish `action`, which may be repeated, though Ctrl-C is pressed meanwhile; three times are enough of it."""
    for _ in range(3):
        try:
            return action()
        except KeyboardInterrupt:
            continue
    return action()


def unfailing(action: Callable[[], None]) -> None:
    """Do what need not succeed: a journal that says too much only has what is in order looked at once more."""
    try:  # not `suppress`, which takes longer than most of what is done here
        undisturbed(action)
    except OSError:
        return
