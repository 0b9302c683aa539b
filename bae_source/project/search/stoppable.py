"""Texts and the matches in them, one after the other, until a deadline.

Invariant: an expression that may backtrack without end is matched in a process that can be stopped.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from bae_source.project.search.expression import Expression
from bae_source.project.search.matching import Hit, Stopped, hits_in


class HasText(Protocol):
    """Something to be searched."""

    @property
    def text(self) -> str:
        """Lines that end in `\\n` alone."""


T = TypeVar("T", bound=HasText)


def matched(texts: Iterable[T], expression: Expression, deadline: float) -> Iterator[tuple[T, Sequence[Hit]]]:
    """Yield each text with its matches, in order; in a process that can be stopped where matching may have no end.

    Parameters:
        deadline: when to stop, on the monotonic clock.

    Raises:
        Stopped: the deadline has passed.
    """
    if expression.endless:
        from bae_source.project.search.child import hits_elsewhere  # processes cost 6 ms, and most need none

        yield from hits_elsewhere(texts, lambda text: text.text, expression, deadline)
        return
    for text in texts:
        if time.monotonic() > deadline:
            raise Stopped(text, in_time=False)
        yield text, hits_in(expression.compiled, text.text, **expression.how)
