"""The depth guard: text that no parser can choke on, with every statement where it was.

Parsers recurse. CPython gives up with MemoryError or RecursionError on expressions that libcst answers with a
segmentation fault, or with time that doubles with each bracket. Neither is needed to find definitions: what is nested
or chained too deeply is overwritten, character by character, by an expression of the same length, so that all offsets,
lines and ends of statements stay as they are.

    total = 1 + 1 + 1 + … + 1        becomes      total = z.zzzzzzzzzzzzzzz
    f([[[[…[[1]]…]]]])               becomes      f([[[[…[z.zzz]…]]]])
    elif a: …   (thousands of them)  becomes      if   a: …

Invariants:
- the answer has the length and the line ends of the text;
- only expressions are overwritten, never a keyword, a target's `=`, a header's `:` or a `;`.
"""

from __future__ import annotations

import re

from bae_source.model.span import Span
from bae_source.syntax.text.lexer import Lexed, LineKind, lex

MAX_DEPTH = 12
MAX_CHAIN = 150
MAX_BRANCHES = 150

_TOKEN = re.compile(
    r"(?P<end>->|,|;|(?:\*\*|//|>>|<<|[+\-*/%&|^@:])?=(?!=))"  # what ends an expression
    r"|(?P<colon>:)|(?P<open>[(\[{])|(?P<close>[)\]}])"
    r"|(?P<link>==|[!<>]=|[-+~\"]|[*/%&|^<>@.]+|\b(?:and|or|not|if|else|lambda|in|is|await|yield)\b)"
)
_KEYWORDS = re.compile(
    r"(?:[ \t\f]|\\(?:\r\n|\n|\r)|@(?=[ \t]*\w)"
    r"|(?:return|assert|raise|del|if|elif|while|with|async|else|try|except|finally)\b(?!\.)"
    r"|for\b(?:(?!\bin\b).)*\bin\b|(?:match|case)[ \t]+(?=[\w(\"'\[{~-])(?!(?:and|or|in|is|if|not)\b))*"
)
_DEFINITION = re.compile(r"[ \t\f]*(?:async[ \t]+)?(?:def|class)\b")
_ELIF = re.compile(r"[ \t\f]*elif\b")
_WORDS = re.compile(r"[^\r\n]+")


def shallow(text: str) -> str:
    """Return `text` with everything overwritten that lies deeper than a parser can be trusted with.

    The answer is `text` itself where nothing is too deep.
    """
    lexed = lex(text)
    deep = [Span(span.start + 1, span.end - 1) for span, depth in lexed.brackets if depth == MAX_DEPTH + 1]
    text = _overwritten(text, deep)
    lexed = lex(text) if deep else lexed
    return _split_branches(_overwritten(text, _long_chains(text, lexed)), lexed)


def _long_chains(text: str, lexed: Lexed) -> list[Span]:
    """Return the expressions with too many operators in a row, one after the other or inside brackets."""
    flat = _without_strings(text, lexed)
    logical = [start for start, kind in zip(lexed.starts, lexed.kinds, strict=True) if kind is LineKind.LOGICAL]
    spans: list[Span] = []
    for start, end in zip(logical, [*logical[1:], len(text)], strict=False):
        if end - start > MAX_CHAIN:
            spans += _Chains(flat, start, end).run()
    return spans


class _Level:
    """One level of brackets: where the expression at hand began, and how many links it has."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.links = 0
        self.lambdas = 0


class _Chains:
    """Counts operators, calls, subscripts and adjoining strings in the expressions of one logical line."""

    def __init__(self, flat: str, start: int, end: int) -> None:
        self.flat = flat
        self.end = end
        self.levels = [_Level(start)]
        self.spans: list[Span] = []

    def run(self) -> list[Span]:
        for token in _TOKEN.finditer(self.flat, self.levels[0].start, self.end):
            level = self.levels[-1]
            if token["open"]:
                level.links += 1
                self.levels.append(_Level(token.end()))
            elif token["close"]:
                self._finish(token.start())
                if len(self.levels) > 1:
                    self.levels.pop()
            elif token["link"]:
                level.links += 1
                level.lambdas += token[0] == "lambda"
            elif token["colon"] and level.lambdas:
                level.lambdas -= 1  # the colon of a lambda ends no expression
            else:
                self._finish(token.start())
                level.start, level.links, level.lambdas = token.end(), 0, 0
        self._finish(self.end)
        return self.spans

    def _finish(self, end: int) -> None:
        """End the expression at hand; note it if it is too long."""
        level = self.levels[-1]
        if level.links <= MAX_CHAIN or (len(self.levels) == 1 and _DEFINITION.match(self.flat, level.start)):
            return
        keywords = _KEYWORDS.match(self.flat, level.start, end) if len(self.levels) == 1 else None
        start = keywords.end() if keywords else level.start
        bare = self.flat[start:end]
        stop = start + len(bare.rstrip(" \t\f\r\n\\"))
        start += len(bare) - len(bare.lstrip(" \t\f\r\n"))
        self.spans.append(Span(start, stop))


def _outermost(spans: list[Span]) -> list[Span]:
    result: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not result or span.start >= result[-1].end:
            result.append(span)
    return result


def _overwritten(text: str, spans: list[Span]) -> str:
    """Put an expression of the same length in the place of each span."""
    pieces: list[str] = []
    position = 0
    for span in _outermost(spans):
        pieces += (text[position : span.start], _expression(span.cut(text)))
        position = span.end
    return "".join([*pieces, text[position:]])


def _expression(text: str) -> str:
    """Return an expression as long as `text` and on as many lines.

    On one line, and inside brackets, it is an attribute: that can stand wherever an expression or a target can, and
    defines no name. Over lines that backslashes join it is a row of strings, which no parser nests.
    """
    lines = [line for line in _WORDS.finditer(text) if line[0].strip()]
    joined = any(line[0].rstrip().endswith("\\") for line in lines)
    result = list(re.sub(r"[^\r\n]", " ", text))
    spans: list[Span] = []
    for line in lines if joined else lines[:1]:
        bare = line[0].rstrip()
        start = line.start() + len(bare) - len(bare.lstrip(" \t\f"))
        spans.append(Span(start, line.start() + len(bare.removesuffix("\\").rstrip())))
        if bare.endswith("\\"):
            result[line.start() + len(bare) - 1] = "\\"
    for span, following in zip(spans, [*spans[1:], None], strict=True):
        if joined and following is not None and len(following) == 1:
            result[span.start : span.end] = _string(len(span) - 1) + "+"  # what follows is too short for a string
        else:
            result[span.start : span.end] = _string(len(span)) if joined else _attribute(len(span))
    return "".join(result)


def _attribute(length: int) -> str:
    return f"z.{'z' * (length - 2)}" if length > 2 else "z" * length


def _string(length: int) -> str:
    return f"'{'z' * (length - 2)}'" if length > 1 else "z" * length


def _without_strings(text: str, lexed: Lexed) -> str:
    """Return `text` with a quote and letters for every string, and with nothing for comments."""
    pieces: list[str] = []
    position = 0
    strings = set(lexed.strings)
    for span in sorted((*lexed.strings, *lexed.comments), key=lambda span: span.start):
        filler = "s" if span in strings else " "
        blank = re.sub(r"[^\r\n]", filler, span.cut(text))
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
