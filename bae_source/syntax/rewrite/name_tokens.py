"""Names in code that bind something without being mentions of it, as an exact piece of text.

    def send(self, item): …              `send` a definition, `item` a parameter
    from app import run as send          `send` an alias
    global send                          `send` a declaration
    "send"; # send; thing.send()         none: strings and comments are no code, and mentions are known already

Invariants:
- the text alone is looked at, so it works for syntax that the running Python does not parse.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Literal

from msgspec import Struct

from bae_source.model.text import normalised
from bae_source.syntax.outline.definitions import Kind
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.lexer import end_of_header, lex

Role = Literal["definition", "alias", "declaration", "parameter", "other"]

_NAME = re.compile(r"[^\W\d]\w*")
_BEHIND = re.compile(r"(?:\bdef|\bclass)(?:[ \t\f]|\\\r?\n)*$")
_ALIAS = re.compile(r"\bas(?:[ \t\f]|\\\r?\n)*$")
_DECLARES = re.compile(r"(?:^|[;:])[ \t\f]*(?:global|nonlocal)\b[^;:]*$")
_LAMBDA = re.compile(r"\blambda\b[^:]*$")


class NameToken(Struct, frozen=True):
    """One name that binds.

    Parameters:
        start: its offset in the text.
        role: how it binds.
        line: of a definition that of its `def` or `class`, else its own; from 1.
    """

    start: int
    role: Role
    line: int


def name_tokens(tree: Tree, word: str, mentions: Collection[int]) -> Iterator[NameToken]:
    """Yield the names in a file that bind a word.

    Parameters:
        word: normalised, as Python has it.
        mentions: the offsets of its mentions, which are left out.
    """
    text, lines = tree.text, tree.source.lines
    # beside the word itself only what has other characters than ASCII can be one that Python reads as it
    spelled = re.compile(rf"(?<!\w)(?:{re.escape(word)}|\w*[^\W\x00-\x7f]\w*)(?!\w)")
    if all(match.start() in mentions or normalised(match[0]) != word for match in spelled.finditer(text)):
        return  # so it is in most files, and what is no code takes long to find
    code = _code_of(text)
    for match in spelled.finditer(code):
        if match.start() in mentions or normalised(match[0]) != word:
            continue
        start = match.start()
        before = code[max(0, start - 400) : start]
        line = lines.number(start)
        if _BEHIND.search(before):
            yield NameToken(start, "definition", lines.number(start - len(_BEHIND.search(before)[0])))  # type: ignore[index]
        elif _ALIAS.search(before):
            yield NameToken(start, "alias", line)
        elif _DECLARES.search(code[lines.logical_start(line) : start]):
            yield NameToken(start, "declaration", line)
        else:
            yield NameToken(start, "parameter" if _is_parameter(tree, code, start) else "other", line)


def written(text: str, start: int) -> str:
    """Return the identifier that stands at an offset, as it is written; "" where none does."""
    match = _NAME.match(text, start)
    return match[0] if match else ""


def _code_of(text: str) -> str:
    """Return a text with strings and comments blanked, at equal length."""
    lexed = lex(text)
    pieces, at = [], 0
    for span in sorted((*lexed.strings, *lexed.comments), key=lambda each: each.start):
        if span.start >= at:
            pieces += [text[at : span.start], " " * (span.end - span.start)]
            at = span.end
    return "".join([*pieces, text[at:]])


def _is_parameter(tree: Tree, code: str, start: int) -> bool:
    """Return whether a name that binds stands in the header of a function, and not in that of a lambda there."""
    found = None
    for each in tree.outline.definitions:
        if each.kind is Kind.FUNCTION and each.keyword < start < each.end:
            found = each
    if found is None or start >= end_of_header(code, found.keyword):
        return False
    return _LAMBDA.search(code[found.keyword : start]) is None
