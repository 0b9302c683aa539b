"""A module's statements, parsed piece by piece, for those who go through them once.

Trees take thirty times the room of their text. Whoever holds a few at a time uses the same memory again, which is
faster than to have the system give more: by a tenth to a fifth for files of some size.

Invariants:
- the statements are those of the whole text, in order, and stand where they stand in it; so are those of a long class,
  whose body is parsed as somebody goes through it, and which does not say where it ends;
- a text that the parser refuses as a whole is refused, when the piece is reached that is at fault.

Why a text may be cut: a blank line and a first word follow each cut, in the first column. If what is before the cut
parses, neither string nor bracket is open there, and every block can end; so a new statement begins, which is a
definition and goes on with nothing before it. If it does not parse, nothing is decided: the rest is taken as a whole.

The same holds in the fifth column, if a class is the last statement before the cut, and its own body stands in that
column. What is behind the cut is parsed below the header of another class.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator

from bae_source.syntax.outline.tree import parse_module

_LENGTH = 10_000
"""Characters of a piece, about: less takes longer again, more as well."""
_MOST = 32
"""About how many pieces a text is cut into: before each, the parser passes over as many line ends as it has above."""
_INDENT = "    "
_CUT = re.compile(r"\n\n(?:class |def |async def |@)")
_CUT_IN_CLASSES = re.compile(rf"\n\n(?:{_INDENT})?(?:class |def |async def |@)")
_HEADER = "class C:\n"
"""What a piece stands below that is cut out of the body of a class."""
_GOES_ON = re.compile(r"\\\n")
_BEGINS = ("", ":", "\n")
"""What a statement may follow that begins behind a backslash, in another column than its indentation ends."""
_FAR = 200
"""Spaces before a backslash, behind which nobody looks."""
_CHANGES_TOKENS = "barry_as_FLUFL"
"""What a `from __future__ import` names after which other texts parse, from Python 3.12 on."""

_Piece = tuple[list[ast.stmt], bool]
"""Statements, and whether the last of them is a class that goes on in the next piece, as the first statement there."""


def statements_of(text: str) -> Iterator[ast.stmt]:
    """Yield the statements of a module; no more than a piece is held at a time.

    Parameters:
        text: whose lines end with a line feed.

    Raises:
        SyntaxError: the parser refuses it; who goes through the body of a class may be told so there.
        RecursionError, MemoryError: it is too deep for the parser.
    """
    pieces = _pieces(text)
    for statements, goes_on in pieces:
        while goes_on:
            long = statements.pop()
            yield from statements
            statements.clear()
            behind: list[_Piece] = []
            body = _body(long.body, pieces, behind)  # type: ignore[attr-defined]  # it is a class
            long.body = body  # type: ignore[attr-defined]
            yield long
            del long
            deque(body, 0)  # what nobody went through
            [(statements, goes_on)] = behind
        yield from statements
        del statements  # before there is another


def _body(begun: list[ast.stmt], pieces: Iterator[_Piece], behind: list[_Piece]) -> Iterator[ast.stmt]:
    """Yield the statements of the body of a class that goes on in the next pieces.

    Parameters:
        begun: those of the first piece.
        behind: takes what follows the class in the last of the pieces.
    """
    yield from begun
    begun.clear()
    goes_on = True
    while goes_on:
        statements, goes_on = next(pieces)
        yield from statements.pop(0).body  # type: ignore[attr-defined]  # of a class, as it is behind such a cut
        if statements:
            break
    behind.append((statements, goes_on))


def _pieces(text: str) -> Iterator[_Piece]:
    """Yield a text piece by piece; what is behind a cut in a class stands in a class there as well."""
    start = line = 0
    header, in_another = "", False
    for cut, is_indented in () if _CHANGES_TOKENS in text else _cuts(text):
        if is_indented and in_another:
            continue
        try:
            piece = _parsed(text[start:cut], line, header)
        except (SyntaxError, RecursionError, MemoryError):
            if not is_indented:
                break
            piece = []
        in_another = is_indented and not _ends_with_class(piece)
        if in_another:  # a function, or a string, to which all may belong that is indented up to the next definition
            continue
        yield piece, is_indented
        del piece  # before there is another
        line += text.count("\n", start, cut)
        start, header = cut, _HEADER if is_indented else ""
    yield _parsed(text[start:], line, header), False


def _ends_with_class(piece: list[ast.stmt]) -> bool:
    """Say whether the last statement is a class whose body stands in the fifth column."""
    last = piece[-1] if piece else None
    return isinstance(last, ast.ClassDef) and last.body[0].col_offset == len(_INDENT)


def _cuts(text: str) -> Iterator[tuple[int, bool]]:
    """Yield where a text may be cut, and whether in a class: behind a piece of some length, and before another."""
    length = max(_LENGTH, len(text) // _MOST)
    pattern = _CUT_IN_CLASSES if _is_plain(text) else _CUT
    start = 0
    while found := pattern.search(text, start + length):
        start = found.start() + len("\n\n")
        if len(text) - start < length // 2:
            return
        yield start, text.startswith(_INDENT, start)


def _is_plain(text: str) -> bool:
    """Say whether each statement that stands in the fifth column of its line is indented by four spaces."""
    if "\t" in text or "\f" in text:
        return False
    ends = (goes_on.start() for goes_on in _GOES_ON.finditer(text))
    return not any(text[max(0, end - _FAR) : end].rstrip(" ")[-1:] in _BEGINS for end in ends)


def _parsed(text: str, above: int, header: str) -> list[ast.stmt]:
    """Return the statements of a piece.

    Parameters:
        above: how many lines stand before it.
        header: a line that is put before it, instead of the last of these.
    """
    lines = "\n" * (above - 1 if header else above)
    return parse_module(lines + header + text).body
