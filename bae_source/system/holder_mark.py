"""What tells this process from every other one, living or dead, in whatever namespace its number was given."""

from __future__ import annotations

import os

_mark = ""


def holder_mark() -> str:
    """Return the mark of this process: sixteen hexadecimal digits, the same until it ends, another one in a fork."""
    global _mark
    if not _mark:
        _mark = os.urandom(8).hex()
    return _mark


def _forget() -> None:
    global _mark
    _mark = ""


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_forget)
