"""The lines of a hunk, up to where it ends, in a unified diff and in `*** Begin Patch` alike.

    @@ -1,3 +1,4 @@ class A:     numbers, and a heading that is only shown
    @@ def f():                  no numbers: a line that stands above
    @@ class A:
    @@ def f():                  two of them, the outer one first

A hunk whose lines are as many as its numbers say ends there. Models count wrongly, so any other one ends where its
lines do: at a line with another mark, which has to be one that a hunk may end at.

Invariant: no line that might belong to a hunk is passed over; what may be either is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.syntax.patches.patch import Hunk, Line, malformed

NUMBERS = re.compile(r"@@ ?-(\d{1,9})(?:,(\d{1,9}))?(?: \+(\d{1,9})(?:,(\d{1,9}))?)?(?: ?@@)?(.*)")
_ANCHOR = re.compile(r"@@[ \t]?(.*?)(?:[ \t]*@@)?[ \t\r]*")
_SAYS_NOTHING = re.compile(r"[.…\s]*")
_MARKS = (" ", "+", "-")
_BLANK = ("", "\r")
_NO_NEWLINE = "\\ "


class Body(Struct, frozen=True):
    """The lines of a hunk, and where the text goes on behind them."""

    lines: tuple[Line, ...]
    end: int
    miscounted: bool = False


def hunk_at(lines: Sequence[str], at: int, number: int, ends: Callable[[int], bool]) -> tuple[Hunk, int]:
    """Return the hunk that begins at a line, and the line behind it.

    Parameters:
        lines: of the patch.
        at: from 0; its first line begins with `@@`, or is the hunk's own where it has no such line.
        number: of the hunk in its section.
        ends: tells of a line whether any hunk ends before it.

    Raises:
        RequestError: `invalid_arguments`.
    """
    first, anchors, counts, start, heading = at, list[str](), None, None, ""
    while at < len(lines) and lines[at].startswith("@@"):
        if match := NUMBERS.fullmatch(lines[at].rstrip("\r")):
            old, new = int(match[2] or 1), int(match[4] or 1)
            counts = (old, new) if match[3] is not None else None
            start, heading = int(match[1]), match[5].strip()
        elif lines[at].startswith("@@@"):
            raise malformed("that is a diff of a merge, with a column for each parent", at + 1, "Give a plain diff.")
        elif (anchor := _ANCHOR.fullmatch(lines[at])) and not _SAYS_NOTHING.fullmatch(anchor[1]):
            anchors.append(anchor[1])
        at += 1
        if counts is not None:
            break
    body = _body(lines, at, counts, ends)
    if not body.lines:
        raise malformed("the hunk has no lines", first + 1)
    if start is not None and any(line.mark != "+" for line in body.lines):
        start = max(0, start - 1)
    found = Hunk(
        number=number,
        at=first + 1,
        lines=body.lines,
        start=start,
        heading=heading,
        anchors=tuple(anchors),
        miscounted=body.miscounted,
    )
    if not all(line.ended for side in (found.old, found.new) for line in side[:-1]):
        raise malformed("a line of the hunk has no newline, and other lines follow it", first + 1)
    return found, body.end


def _body(lines: Sequence[str], at: int, counts: tuple[int, int] | None, ends: Callable[[int], bool]) -> Body:
    """Return the lines of a hunk from behind its header."""
    counted = _counted(lines, at, counts) if counts else None
    if counted is not None and not _goes_on(lines, counted.end, ends):
        return counted
    end = at
    while end < len(lines) and not ends(end) and (lines[end][:1] in (*_MARKS, "\\") or lines[end] in _BLANK):
        end += 1
    if end < len(lines) and not ends(end):
        raise _unmarked(lines, end)
    last = end
    while last > at and lines[last - 1] in _BLANK:  # which separates hunks as well as it is a blank line of the file
        last -= 1
    return Body(_marked(lines[at:last]), end, miscounted=counts is not None)


def _counted(lines: Sequence[str], at: int, counts: tuple[int, int]) -> Body | None:
    """Return as many lines as a header counts; None where others stand there."""
    old, new = counts
    end = at
    while (old > 0 or new > 0) and end < len(lines):
        mark = lines[end][:1] if lines[end] not in _BLANK else " "
        if mark not in (*_MARKS, "\\"):
            return None
        old -= mark in (" ", "-")
        new -= mark in (" ", "+")
        end += 1
    if old or new:
        return None
    if end < len(lines) and lines[end].startswith(_NO_NEWLINE):
        end += 1
    return Body(_marked(lines[at:end]), end)


def _goes_on(lines: Sequence[str], at: int, ends: Callable[[int], bool]) -> bool:
    """Return whether more lines of a hunk follow behind those that its header counts."""
    if at < len(lines) and not ends(at) and lines[at][:1] not in (*_MARKS, "") and lines[at] not in _BLANK:
        raise _unmarked(lines, at)
    while at < len(lines) and lines[at] in _BLANK:
        at += 1
    return at < len(lines) and not ends(at) and lines[at][:1] in _MARKS


def _marked(lines: Sequence[str]) -> tuple[Line, ...]:
    found: list[Line] = []
    for line in lines:
        if line.startswith("\\"):
            if found:
                found[-1] = Line(found[-1].mark, found[-1].text, ended=False)
        else:
            found.append(Line(line[:1], line[1:]) if line not in _BLANK else Line(" ", line))
    return tuple(found)


def _unmarked(lines: Sequence[str], at: int) -> RequestError:
    return malformed(
        f"{lines[at].strip()[:60]!r} has no mark in front: a space for what stays, - for what goes, + for what comes",
        at + 1,
        "Put a space in front of each line of context, blank ones left out.",
    )
