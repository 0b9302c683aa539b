"""The depth guard: text that no parser can choke on, with every statement where it was.

Parsers recurse. CPython gives up with MemoryError or RecursionError on expressions that libcst answers with a
segmentation fault, or with time that doubles with each bracket. Neither is needed to find definitions: what is nested
or chained too deeply is blanked out, character by character, so that all offsets and lines stay as they are.

    total = 1 + 1 + 1 + … + 1        becomes      total = 0
    f([[[[…[[1]]…]]]])               becomes      f([[[[…[0  ]…]]]])
    elif a: …   (thousands of them)  becomes      if   a: …
"""

from __future__ import annotations

import re

from bae_source.model.span import Span
from bae_source.syntax.lexer import Lexed, LineKind, lex

MAX_DEPTH = 12
MAX_CHAIN = 150
MAX_BRANCHES = 150

_LINK = re.compile(r"[-+~]|[*/%&|^<>=!@.]+|[\"(),\[\]{}]|\b(?:and|or|not|if|else|lambda|in|is|await|yield)\b")
_OPENING = re.compile(r"[ \t\f]*(?:(?P<header>(?:if|elif|while|for|with|match|case|async|else|try|except)\b)|"
                      r"(?P<keyword>(?:return|assert|raise|del|yield|await)\b)|(?P<other>))")  # fmt: skip
_EQUALS = re.compile(r"(?<![=!<>:+\-*/%&|^@])=(?!=)|(?:\*\*|//|>>|<<|[+\-*/%&|^@])=")
_ELIF = re.compile(r"[ \t\f]*elif\b")


def shallow(text: str) -> str:
    """Return `text` with everything blanked out that lies deeper than a parser can be trusted with.

    The answer has the same length and the same line ends; it is `text` itself where nothing is too deep.
    """
    lexed = lex(text)
    spans = [Span(span.start + 1, span.end - 1) for span, depth in lexed.brackets if depth == MAX_DEPTH + 1]
    text = _blank(text, spans)
    lexed = lex(text) if spans else lexed
    text = _blank(text, _long_chains(text, lexed))
    return _split_branches(text, lexed)


def _long_chains(text: str, lexed: Lexed) -> list[Span]:
    """Return what to blank out of every bracket pair and every logical line with too many operators in a row."""
    flat = _blank_strings(text, lexed)
    logical = [start for start, kind in zip(lexed.starts, lexed.kinds, strict=True) if kind is LineKind.LOGICAL]
    spans: list[Span] = []
    for start, end in zip(logical, [*logical[1:], len(text)], strict=False):
        if end - start > MAX_CHAIN:
            spans += _chains_of_line(flat, start, end)
    return spans


def _chains_of_line(flat: str, start: int, end: int) -> list[Span]:
    """Count what is chained at each level of one logical line; a comma begins anew."""
    found: list[Span] = []
    levels: list[tuple[int, int, bool]] = [(start, 0, False)]  # where it begins, how many in a row, whether too many
    for match in _LINK.finditer(flat, start, end):
        begin, count, chained = levels[-1]
        if match[0] in ")]}":
            if len(levels) > 1:
                levels.pop()
                if chained:
                    found.append(Span(begin, match.start()))
            continue
        count = 0 if match[0] == "," else count + 1
        levels[-1] = (begin, count, chained or count > MAX_CHAIN)
        if match[0] in "([{":
            levels.append((match.end(), 0, False))
    if levels[0][2]:
        found.append(_expression(flat, start, end))
    return found


def _expression(flat: str, start: int, end: int) -> Span:
    """Return the part of a logical line that holds its expression."""
    opening = _OPENING.match(flat, start)
    assert opening is not None
    stop = start + len(flat[start:end].rstrip(" \t\f\r\n\\"))
    if opening["header"]:
        return Span(opening.end(), flat.rfind(":", start, stop))
    if opening["keyword"]:
        return Span(opening.end(), stop)
    equals = _EQUALS.search(flat, start, stop)
    return Span(equals.end() if equals else opening.end(), stop)


def _outermost(spans: list[Span]) -> list[Span]:
    result: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not result or span.start >= result[-1].end:
            result.append(span)
    return result


def _blank(text: str, spans: list[Span]) -> str:
    """Replace each span by a zero and spaces, line ends kept."""
    pieces: list[str] = []
    position = 0
    for span in _outermost(spans):
        inside = span.cut(text)
        blank = re.sub(r"[^\r\n]", " ", inside)
        at = next((index for index, char in enumerate(inside) if not char.isspace()), None)
        if at is not None:
            lead = 1 if blank[at - 1 : at] != " " and span.start and text[span.start + at - 1].isalnum() else 0
            blank = blank[: at + lead] + "0" + blank[at + lead + 1 :]
        pieces += (text[position : span.start], blank)
        position = span.end
    return "".join([*pieces, text[position:]])


def _blank_strings(text: str, lexed: Lexed) -> str:
    """Return `text` with a lone quote for every string, and with nothing for comments."""
    pieces: list[str] = []
    position = 0
    strings = set(lexed.strings)
    for span in sorted((*lexed.strings, *lexed.comments), key=lambda span: span.start):
        blank = re.sub(r"[^\r\n]", " ", span.cut(text))
        pieces += (text[position : span.start], '"' + blank[1:] if span in strings else blank)
        position = span.end
    return "".join([*pieces, text[position:]])


def _split_branches(text: str, lexed: Lexed) -> str:
    """Turn the branches of very long `elif` chains into statements of their own."""
    starts = [
        start
        for start, kind in zip(lexed.starts, lexed.kinds, strict=True)
        if kind is LineKind.LOGICAL and _ELIF.match(text, start)
    ]
    if len(starts) <= MAX_BRANCHES:
        return text
    pieces: list[str] = []
    position = 0
    for start in starts:
        at = text.index("elif", start)
        pieces += (text[position:at], "if  ")
        position = at + 4
    return "".join([*pieces, text[position:]])
