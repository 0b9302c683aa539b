"""A header or a statement in one line, without comments and line breaks, strings untouched."""

from __future__ import annotations

import re

from bae_source.syntax.text.lexer import lex

_BREAK = re.compile(r"[ \t\f]*(?:\\?(?:\r\n|\n|\r)[ \t\f]*)+")
_OPENED = re.compile(r"([(\[{])\n")
_CLOSED = re.compile(r"\n([)\]}])")
HEAD = re.compile(r"(?:async[ \t\f\\\r\n]+)?(?:def|class)[ \t\f\\\r\n]+")
_LITERAL = "\ue000"
"""Stands for a string literal while its surroundings are put in one line; no code has it outside strings."""


def in_one_line(code: str) -> str:
    """Return a header or statement in one line: without comments and line breaks, strings untouched."""
    lexed = lex(code)
    pieces, literals, position = [], [], 0
    for span in sorted((*lexed.strings, *lexed.comments)):
        pieces.append(code[position : span.start])
        if span not in lexed.comments:
            pieces.append(_LITERAL)
            literals.append(span.cut(code))
        position = span.end
    pieces.append(code[position:])
    bare = _CLOSED.sub(r"\1", _OPENED.sub(r"\1", _BREAK.sub("\n", "".join(pieces).strip())))
    parts = _without_last_comma(bare.replace("\n", " ")).split(_LITERAL)
    filled = [part for pair in zip(parts, [*literals, ""], strict=False) for part in pair]
    return "".join(filled)


def _without_last_comma(header: str) -> str:
    """Drop the comma that ends a parameter list, the first round bracket outside others; elsewhere it makes a tuple."""
    if not HEAD.match(header):
        return header
    depth, begun = 0, -1
    for position, char in enumerate(header):
        if char in "([{":
            if depth == 0 and char == "(":
                begun = position
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0 and begun >= 0:
                inner = header[begun + 1 : position].rstrip()
                return f"{header[: begun + 1]}{inner.removesuffix(',')}{header[position:]}"
    return header
