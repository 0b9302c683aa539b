"""The progress of a request that takes long: a line on a terminal, which goes in the end; or its answer as it comes.

Invariant: of an answer that is written as it comes nothing is written twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from msgspec.structs import replace

from bae_source.adapters.cli.render import render_lines
from bae_source.adapters.cli.streams import Streams, abandon, visible
from bae_source.model.outcome import Outcome
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


def as_it_comes(ask: Callable[..., Outcome], streams: Streams) -> Outcome:
    """Carry out a request whose lines are written as they come, and return what is left to be shown.

    Parameters:
        ask: carries it out, and takes `arriving`.
    """
    has_come = False

    def arriving(lines: str) -> bool:
        nonlocal has_come
        has_come = True
        try:
            render_lines(lines, streams)
        except BrokenPipeError:  # the reader has gone, as `head` does
            abandon(streams.stdout)
            return False
        return True

    outcome = ask(arriving=arriving)
    return replace(outcome, text=outcome.text.partition("\n")[0]) if has_come else outcome


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
        """Draw the progress, and the last step."""
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
