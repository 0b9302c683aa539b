"""Lines of a log that match an expression, the last or the first of them, with lines around them.

Invariants:
- the answer names what was not searched, since the log is too large or the time was up;
- as in `grep`, an expression that may take for ever runs in a process that can be stopped;
- what is searched is what is shown: escapes for what cannot be.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator

from msgspec import Struct

from bae_source.model.outcome import Notice
from bae_source.project.search.expression import Expression
from bae_source.project.search.matching import Stopped
from bae_source.project.search.stoppable import matched
from bae_source.resources.logs.lines import Block, OpenLog, blocks, first_lines, last_lines, shown

SECONDS = 10.0
"""The time limit of a search."""


class Match(Struct, frozen=True, kw_only=True):
    """A line that matches.

    Parameters:
        line: how many lines stand before it, from where the search began.
        offset: of its first byte.
        column: where the match begins, from 1.
    """

    line: int
    offset: int
    column: int


class Matches(Struct, frozen=True, kw_only=True):
    """The lines of a log that match.

    Parameters:
        kept: those that are wanted.
        count: how many there are, as far as was searched.
        lines: how many lines were searched.
        stopped: why not all was searched; none where it was.
    """

    kept: tuple[Match, ...]
    count: int
    lines: int
    stopped: tuple[Notice, ...] = ()


def matches(log: OpenLog, start: int, expression: Expression, most: int, *, first: bool) -> Matches:
    """Search a log from an offset on.

    Parameters:
        most: how many matches are wanted.
        first: whether the first ones are, so that the search ends with them; else the last ones.
    """
    kept: deque[Match] = deque(maxlen=most)
    count, reach = 0, _Reach()
    try:
        for block, hits in matched(reach.of(log, start, expression), expression, time.monotonic() + SECONDS):
            wanted = hits[: most - len(kept)] if first else hits[-most:]
            offsets = block.offsets(line - 1 for line, *_ in wanted)
            for (line, column, *_), offset in zip(wanted, offsets, strict=True):
                kept.append(Match(line=block.first + line - 1, offset=offset, column=column))
            count += len(hits)
            if first and len(kept) >= most:
                break
    except Stopped:
        why = f"The search was stopped after {SECONDS:g} s, and did not reach the end of the log."
        return Matches(kept=tuple(kept), count=count, lines=reach.lines, stopped=(Notice("timed_out", why),))
    return Matches(kept=tuple(kept), count=count, lines=reach.lines)


def drawn(log: OpenLog, matches: Matches, context: int, number: int | None) -> Iterator[str]:
    """Draw the matches as grep does: `12: text`, lines around them as `11- text`, and `--` between what lies apart.

    Parameters:
        number: of the line that the search began with; None where it is not known.
    """
    marked = {match.line for match in matches.kept}
    texts: dict[int, str] = {}
    for match in matches.kept:
        before = last_lines(log, match.offset, context).raw if context else ()
        after = first_lines(log, match.offset, log.end, context + 1).raw
        for line, raw in enumerate((*before, *after), match.line - len(before)):
            if line == match.line:
                texts[line] = shown(raw, match.column)
            elif line not in texts:  # one that matches as well has its turn
                texts[line] = shown(raw)
    for line in sorted(texts):
        if context and line - 1 not in texts and line != min(texts):
            yield "--"
        yield f"{'' if number is None else number + line}{':' if line in marked else '-'} {texts[line]}"


class _Reach:
    """The extent of a search so far.

    Attributes:
        lines: how many lines it has looked at.
    """

    def __init__(self) -> None:
        self.lines = 0

    def of(self, log: OpenLog, start: int, expression: Expression) -> Iterator[Block]:
        """Yield the blocks of a log that may hold a match."""
        for block in blocks(log, start, log.end):
            self.lines = block.first + block.raw.count(b"\n") + (not block.raw.endswith(b"\n"))
            if not block.is_plain or expression.may_match(block.raw, python=False):
                yield block
