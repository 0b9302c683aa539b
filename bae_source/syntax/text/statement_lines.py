"""Statements of an `__init__` as lines: where the next one goes, and how one goes without those that share its line.

from .a import A; __all__ = [     <- one logical line, that two statements share
    "A",
]                                 <- the next statement goes behind this
"""

from __future__ import annotations

import re

from bae_source.model.span import Span
from bae_source.syntax.text.lexer import end_of_line
from bae_source.syntax.text.revision import Splices
from bae_source.syntax.text.source import Lines

_REST = re.compile(r"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\Z)")
_BEHIND = re.compile(r"[ \t\f]*;[ \t\f]*")
_BEFORE = re.compile(r"[ \t\f]*;[ \t\f]*\Z")


def own_lines(text: str, lines: Lines, span: Span) -> Span | None:
    """Return the whole lines of a statement; None where it shares them with others."""
    start, end = lines.start(lines.number(span.start)), end_of_line(text, span.end)
    alone = not text[start : span.start].strip() and _REST.fullmatch(text, span.end, end)
    return Span(start, end) if alone else None


def without(text: str, lines: Lines, span: Span) -> Splices:
    """Return the splices that take a statement out, with its lines if they are its own."""
    line = own_lines(text, lines, span)
    if line is not None:
        return [(line, "")]
    behind = _BEHIND.match(text, span.end)
    if behind:
        return [(Span(span.start, behind.end()), "")]
    before = _BEFORE.search(text, 0, span.start)
    return [(Span(before.start() if before else span.start, span.end), "" if before else "pass")]


def behind(text: str, span: Span, new: str, newline: str) -> Splices:
    """Return the splices that put a line behind that of a statement; a text without a last line end gets none."""
    end = end_of_line(text, span.end)
    ended = text[end - 1 : end] in ("\n", "\r")
    return [(Span(end, end), new + newline if ended else newline + new)]
