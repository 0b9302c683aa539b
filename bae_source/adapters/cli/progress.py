"""One line on a terminal that says how far a long request has come, and goes when it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from bae_source.adapters.cli.streams import visible
from bae_source.model.text import so_far

_PAUSE = 0.1
"""Seconds between two drawings."""
_WIDTH = 79
_CLEAR = "\r\x1b[K"


@contextmanager
def shown_on(terminal: TextIO) -> Iterator[Progress]:
    """Have the line on a terminal until the context ends."""
    line = Progress(terminal)
    try:
        yield line
    finally:
        line.clear()


class Progress:
    """The line.

    Parameters:
        terminal: takes it.
        timer: seconds from any beginning.
    """

    def __init__(self, terminal: TextIO, timer: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._timer = timer
        self._drawn = 0.0

    def __call__(self, done: int, of: int, last: str) -> None:
        """Draw how much is done, and what came last."""
        now = self._timer()
        if now - self._drawn >= _PAUSE:
            self._drawn = now
            self._write(f"{_CLEAR}{visible(so_far(done, of, last))[:_WIDTH]}")

    def clear(self) -> None:
        """Remove the line."""
        if self._drawn:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()
