"""The number of blank lines between statements, as it is and as it should be.

PEP 8 asks for two around functions and classes of a module and one around those inside; a file that has its own way
is followed: the gap that the neighbours have is the one that a new statement gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from bae_source.syntax.outline.definitions import Definition
from bae_source.syntax.outline.tree import Tree

_BLANK = re.compile(r"[ \t\f]*(?:\r\n|\n|\r)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)")


def start_of_gap(text: str, position: int) -> int:
    """Return where the blank lines directly above a line's start begin."""
    while position:
        end_above = position - 2 if text.startswith("\r\n", position - 2) else position - 1
        start = max(text.rfind("\n", 0, end_above), text.rfind("\r", 0, end_above)) + 1
        if text[start:position].strip(" \t\f\r\n") or text[position - 1] not in "\r\n":
            break
        position = start
    return position


def end_of_gap(text: str, position: int) -> int:
    """Return where the blank lines from a line's start on end."""
    while match := _BLANK.match(text, position):
        position = match.end()
    return position


def count(text: str, start: int, end: int) -> int:
    """Count the lines of a range that starts and ends at line starts."""
    return sum(1 for _ in _LINE.finditer(text, start, end))


def wanted(tree: Tree, suite: int, *, nested: bool) -> int:
    """Return how many blank lines set a function or class apart: as its neighbours have it, else as PEP 8.

    How close those of one name stand, such as overloads, says nothing of others.
    """
    neighbours = [d for d in tree.outline.definitions if d.suite == suite and d.body is not None]
    gaps = _gaps(tree, [pair for pair in pairwise(neighbours) if pair[0].names != pair[1].names])
    if gaps:
        return max(set(gaps), key=gaps.count)
    return 1 if nested else 2


def gap_in_group(tree: Tree, one: Definition, otherwise: int) -> int:
    """Return how many blank lines stand between the first two of a definition's group; `otherwise` if it is alone."""
    group = [d for d in tree.outline.definitions if d.suite == one.suite and d.names == one.names]
    return next(iter(_gaps(tree, pairwise(group))), otherwise)


def _gaps(tree: Tree, pairs: Iterable[tuple[Definition, Definition]]) -> list[int]:
    """Return how many blank lines stand between definitions that are neighbours."""
    return [
        gap
        for first, second in pairs
        if first.position + 1 == second.position and (gap := gap_between(tree, first, second)) is not None
    ]


def gap_between(tree: Tree, first: Definition, second: Definition) -> int | None:
    """Return how many blank lines follow a definition's end, if nothing but a comment block comes before the next."""
    end = end_of_gap(tree.text, first.span.end)
    between = tree.text[end : second.span.start]
    if between.strip() and not all(line.lstrip().startswith("#") for line in between.splitlines()):
        return None
    return count(tree.text, first.span.end, end)
