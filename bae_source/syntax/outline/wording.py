"""The words of a module: its docstrings and comments, each with the definition that it belongs to.

    # Connections are kept alive.        <- belongs to `Pool`, which it stands above without a blank line
    class Pool:
        '''A pool of connections.'''     <- belongs to `Pool`
        # Never empty.                   <- belongs to `Pool`, the innermost definition around it

Invariants:
- wording depends on the file's bytes alone, so it can be kept by their digest;
- passages refer to definitions by their index in `summary.entries`; `MODULE` is the module itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.summary import Summary, summarise
from bae_source.syntax.outline.tree import Tree, parse
from bae_source.syntax.text.source import Lines, Source

_LONGEST = 20_000
_TOKEN = re.compile(
    r"(\#[^\r\n]*)"
    r'|"""(?>(?:[^"\\]++|\\.|"(?!""))*)"""'
    r"|'''(?>(?:[^'\\]++|\\.|'(?!''))*)'''"
    r'|"(?>(?:[^"\\\r\n]++|\\(?:\r\n|.))*)"?'
    r"|'(?>(?:[^'\\\r\n]++|\\(?:\r\n|.))*)'?",
    re.DOTALL,
)


class Passage(Struct, frozen=True, array_like=True):
    """The words about one definition.

    Parameters:
        index: of its entry, or `MODULE`.
        docstring: as it stands, quotes included; at most 20,000 characters.
        comments: one a line, without their `#`; at most 20,000 characters.
    """

    index: int
    docstring: str
    comments: str


class Wording(Struct, frozen=True, kw_only=True):
    """One module.

    Parameters:
        summary: what it defines.
        passages: the definitions that have text about them, in source order.
    """

    summary: Summary
    passages: tuple[Passage, ...]


def wording_of(source: Source) -> Wording:
    """Return what a file says in words.

    Raises:
        SourceError: it does not parse.
    """
    tree = parse(source)
    outline, text = tree.outline, tree.text
    comments = _comments(tree)
    passages = [Passage(MODULE, _cut(outline.docstring, text), comments.get(MODULE, ""))]
    passages += [
        Passage(index, _cut(definition.docstring, text), comments.get(index, ""))
        for index, definition in enumerate(outline.definitions)
        if definition.docstring or index in comments
    ]
    return Wording(
        summary=summarise(tree), passages=tuple(each for each in passages if each.docstring or each.comments)
    )


def _cut(span: Span | None, text: str) -> str:
    return span.cut(text)[:_LONGEST] if span is not None else ""


def _comments(tree: Tree) -> dict[int, str]:
    """Return the comments of each definition, by its index."""
    spans = list(comments_of(tree.text))
    if not spans:
        return {}
    definitions, lines = tree.outline.definitions, tree.source.lines
    starts = [definition.span.start for definition in definitions]
    found: dict[int, list[str]] = {}
    for span, last in _blocks(spans, lines):
        owner = _around(tree, bisect_right(starts, span.start) - 1, span.start)
        following = bisect_right(starts, last.start)
        if following < len(definitions) and definitions[following].parent == owner:
            first = lines.number(definitions[following].span.start)
            owner = following if first == lines.number(last.start) + 1 else owner
        found.setdefault(owner, []).append(span.cut(tree.text).lstrip("#!: \t"))
    return {owner: "\n".join(comments)[:_LONGEST] for owner, comments in found.items()}


def _blocks(spans: list[Span], lines: Lines) -> list[tuple[Span, Span]]:
    """Return each comment with the last one of those that follow it line by line."""
    found: list[tuple[Span, Span]] = []
    last, below = spans[-1], lines.number(spans[-1].start) + 1
    for span in reversed(spans):
        number = lines.number(span.start)
        last = last if number + 1 == below else span
        found.append((span, last))
        below = number
    return found[::-1]


def _around(tree: Tree, index: int, offset: int) -> int:
    """Return the innermost definition around an offset, from the last one that begins before it."""
    while index != MODULE and offset >= tree.outline.definitions[index].span.end:
        index = tree.outline.definitions[index].parent
    return index


def comments_of(text: str) -> Iterator[Span]:
    """Yield the span of each comment, from its `#` to its line's end, found without the file's tree.

    A `#` inside a string literal begins no comment. One regular expression goes over the text once. Where literals nest
    inside an f-string's fields (PEP 701) it may take the rest of that line for something else; `lexer.lex` does not,
    and takes twenty times as long.
    """
    if "#" not in text:
        return
    for token in _TOKEN.finditer(text):
        if token[1] is not None:
            yield Span(token.start(), token.end())
