"""A module's statements, parsed piece by piece, for those who go through them once.

Trees take thirty times the room of their text. Whoever holds a few at a time uses the same memory again, which is
faster than to have the system give more: by a tenth to a fifth for files of some size.

Invariants:
- the statements are those of the whole text, in order, and stand where they stand in it;
- a text that the parser refuses as a whole is refused, when the piece is reached that is at fault.

Why a text may be cut: a blank line and a first word follow each cut, in the first column. If what is before the cut
parses, neither string nor bracket is open there, and every block can end; so a new statement begins, which is a
definition and goes on with nothing before it. If it does not parse, nothing is decided: the rest is taken as a whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bae_source.syntax.tree import parse_module

_LENGTH = 10_000
"""Characters of a piece, about: less takes longer again, more as well."""
_MOST = 32
"""About how many pieces a text is cut into: before each, the parser passes over as many line ends as it has above."""
_CUT = re.compile(r"\n\n(?:class |def |async def |@)")
_CHANGES_TOKENS = "barry_as_FLUFL"
"""What a `from __future__ import` names after which other texts parse, from Python 3.12 on."""


def statements_of(text: str) -> Iterator[ast.stmt]:
    """Yield the statements of a module; no more than a piece is held at a time.

    Parameters:
        text: whose lines end with a line feed.

    Raises:
        SyntaxError: the parser refuses it.
        RecursionError, MemoryError: it is too deep for the parser.
    """
    start = line = 0
    for cut in () if _CHANGES_TOKENS in text else _cuts(text):
        try:
            piece = _parsed(text[start:cut], line)
        except (SyntaxError, RecursionError, MemoryError):
            break
        yield from piece
        del piece  # before there is another
        line += text.count("\n", start, cut)
        start = cut
    yield from _parsed(text[start:], line)


def _cuts(text: str) -> Iterator[int]:
    """Yield where a text may be cut: behind a piece of some length, and before another."""
    length = max(_LENGTH, len(text) // _MOST)
    start = 0
    while found := _CUT.search(text, start + length):
        start = found.start() + len("\n\n")
        if len(text) - start < length // 2:
            return
        yield start


def _parsed(text: str, above: int) -> list[ast.stmt]:
    """Return the statements of a piece.

    Parameters:
        above: how many lines stand before it.
    """
    return parse_module("\n" * above + text).body
