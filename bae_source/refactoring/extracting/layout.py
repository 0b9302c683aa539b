"""Layout of an expression of several lines, where it comes from and where it goes.

    rows = [                  [ … ] has brackets of its own: it needs no more, and its lines move with the first one
        1,
    ]
    text = (                  these brackets only hold the text over several lines: they go with it
        "a"
        "b"
    )

Invariants:
- what a string holds is never moved, and a comment is never lost.
"""

from __future__ import annotations

import ast
import keyword
import re

from bae_source.model.span import Span
from bae_source.refactoring.extracting.selecting import Piece
from bae_source.syntax.outline.definitions import Outline, width
from bae_source.syntax.rewrite.reindent import Shift, reindent
from bae_source.syntax.text.byte_edits import splice

NO_DEFINITIONS = Outline(definitions=(), suites=(), imports=(), docstring=None, exported=None)
_WORD = re.compile(r"\w+\Z")
_END = re.compile(r"[\w\])'\"]\Z")
_NAME = "_ = "


def place_of(piece: Piece) -> Span:
    """Return the span that gives way to a name: with the brackets that only hold an expression over several lines."""
    text, span = piece.code.source.text, piece.span
    if not piece.is_expression or piece.code.is_in_string(piece.nodes[0]):
        return span
    before = text[: span.start].rstrip()
    after = text[span.end :].lstrip()
    end = len(text) - len(after) + 1
    if not before.endswith("(") or not after.startswith(")"):
        return span
    wide = Span(len(before) - 1, end)
    return wide if _has_lines(wide.cut(text)) and _groups(before[:-1].rstrip()) else span


def value_of(piece: Piece, *, indent: str, unit: str, lead: str = "") -> str:
    """Return the text of an expression as it stands behind something on a line of its own.

    Parameters:
        indent: what indents the line.
        unit: what indents a suite of it.
        lead: the text before the expression.
    """
    source, wide = piece.code.source, place_of(piece)
    cut = piece.span.cut(source.text)
    if not _has_lines(cut):
        return f"({cut})" if isinstance(piece.nodes[0], (ast.NamedExpr, ast.Yield)) else cut
    is_alone = _is_alone(cut)
    if is_alone or wide != piece.span:
        span = piece.span if is_alone else wide
        new = indent
        old = _visual(piece, span)
        if old is not None:
            new = indent + " " * len(lead)
        return _moved(span.cut(source.text), _indent_at(piece, span) if old is None else old, new)
    start = source.lines.start(source.lines.number(piece.span.start))
    begins = not source.text[start : piece.span.start].strip()
    hung = _indent_at(piece, piece.span) if begins else min(_continuations(cut), key=width, default="")
    inner = _moved(f"({cut})", _visual(piece, piece.span) or hung, indent + unit)[1:-1]
    return f"({source.newline}{indent}{unit}{inner}{source.newline}{indent})"


def _moved(text: str, old: str, new: str) -> str:
    """Return an expression whose further lines follow its first from one indentation to another."""
    line = f"{old}{_NAME}{text}\n"
    splices = reindent(line, Span(0, len(line)), NO_DEFINITIONS, Shift(old=old, new=new))
    return splice(line, splices)[len(new) + len(_NAME) : -1]


def _indent_at(piece: Piece, span: Span) -> str:
    lines = piece.code.source.lines
    return lines.indentation(lines.number(span.start)).rpartition("\f")[2]


def _visual(piece: Piece, span: Span) -> str | None:
    """Return white space as wide as what is before an expression whose lines stand right of its start, else None."""
    source = piece.code.source
    column = span.start - source.lines.start(source.lines.number(span.start))
    further = _continuations(span.cut(source.text))
    is_right = all("\t" not in each and len(each) > column for each in further)
    return " " * column if further and is_right else None


def _continuations(text: str) -> list[str]:
    """Return the indentations of the further lines of an expression that are not blank."""
    every = re.findall(r"(?:\r\n|\n|\r)([ \t]*)(?=[^\s])", text)
    return [str(each) for each in every]


def _is_alone(text: str) -> bool:
    """Return whether an expression needs no brackets to go over several lines."""
    try:
        bare, bracketed = (ast.dump(ast.parse(f"{_NAME}{each}\n")) for each in (text, f"({text})"))
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return False
    return bare == bracketed


def _groups(before: str) -> bool:
    """Return whether a bracket behind some text is no call's, and none of a header."""
    if word := _WORD.search(before):
        return keyword.iskeyword(word[0])
    return _END.search(before) is None


def _has_lines(text: str) -> bool:
    return "\n" in text or "\r" in text
