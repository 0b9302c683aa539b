"""Statements that a hole stands for: with their comments, and moved to where the replacement has them.

    if x:  # why                 the hole stands for
        # first                      # first
        go()  # now                  go()  # now
        # last                       # last

Invariants:
- comments above the first statement and behind the last one of a suite go along; one behind a header stays with it;
- the lines inside a string do not move.
"""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.span import Span
from bae_source.syntax.patterns.pattern import span_of
from bae_source.syntax.rewrite.given import WRAPPER, understand
from bae_source.syntax.rewrite.reindent import Shift
from bae_source.syntax.rewrite.splice import moved
from bae_source.syntax.text.lexer import Lexed, LineKind, lex
from bae_source.syntax.text.source import NEWLINE, Source

_SPACE = re.compile(r"[ \t\f]*")
_TAIL = re.compile(r"[ \t\f]*(#[^\r\n]*)?(?=[\r\n]|\Z)")


class Block(Struct, frozen=True, kw_only=True):
    """Statements.

    Parameters:
        span: theirs, with their comments; where they begin their line with its indentation.
        indent: by what their first line is indented.
        lead: the white space that their span begins with.
        on_own_lines: whether they begin their line.
        before: what stands before their text elsewhere: the indentation of an `elif`, which is an `if` there.
    """

    span: Span
    indent: str
    lead: str = ""
    on_own_lines: bool
    before: str = ""


def block_of(source: Source, lexed: Lexed, first: ast.AST, last: ast.AST, *, is_last: bool) -> Block:
    """Return some statements of a suite, one behind the other.

    Parameters:
        is_last: whether none follows in the suite.
    """
    decorators = getattr(first, "decorator_list", ())
    lines, text = source.lines, source.text
    start = span_of(source, first).start
    if decorators:
        start = text.rfind("@", 0, span_of(source, decorators[0]).start)
    number = lines.number(start)
    lead = text[lines.start(number) : start]
    end = span_of(source, last).end
    tail = _TAIL.match(text, end)
    if lead.strip(" \t\f"):
        return Block(span=Span(start, end), indent=lines.indentation(number), on_own_lines=False)
    end = tail.end() if tail else end
    if is_elif(text, start):
        return Block(span=Span(start + 2, end), indent=lead, before=lead, on_own_lines=True)
    top = number
    while top > 1 and lexed.kinds[top - 2] in (LineKind.COMMENT, LineKind.BLANK):
        top -= 1
    while lexed.kinds[top - 1] is LineKind.BLANK:
        top += 1
    if is_last and tail:
        end = _with_comments_below(source, lexed, end, len(lead))
    above = _SPACE.match(text, lines.start(top))
    return Block(span=Span(lines.start(top), end), indent=lead, lead=above[0] if above else "", on_own_lines=True)


def is_elif(text: str, start: int) -> bool:
    """Return whether the `if` statement that begins at an offset is written as `elif`."""
    return text.startswith("elif", start) and not text[start + 4 : start + 5].isalnum()


def _with_comments_below(source: Source, lexed: Lexed, end: int, column: int) -> int:
    """Return the end of a suite with the comments below its last statement that are indented as it is."""
    lines = source.lines
    number = lines.number(end)
    while number < len(lexed.kinds) and lexed.kinds[number] in (LineKind.COMMENT, LineKind.BLANK):
        line = lines.cut(number + 1)
        if lexed.kinds[number] is LineKind.COMMENT:
            space = _SPACE.match(line)
            if space is None or len(space[0]) < column:
                break
            end = lines.start(number + 1) + len(line.rstrip("\r\n"))
        number += 1
    return end


def moved_to(text: str, indent: str, new: str) -> str | None:
    """Return whole lines of statements at another indentation; None where they do not parse."""
    if indent == new:
        return text
    try:
        given = understand(text, unit=indent or "    ", target_indent=new, lift_imports=False)
    except ResourceError:
        return None
    span = Span(len(WRAPPER) if given.indent else 0, len(given.text))
    return moved(given.tree, span, Shift(old=given.indent, new=new))


def continued_at(text: str, indent: str, new: str) -> str:
    """Return an expression of several lines, whose statement is indented otherwise; its strings stay."""
    if indent == new or not NEWLINE.search(text):
        return text
    lexed = lex(text)
    pieces = [text[start:end] for start, end in zip(lexed.starts, (*lexed.starts[1:], len(text)), strict=True)]
    return "".join(
        new + piece.removeprefix(indent)
        if number and kind is not LineKind.STRING and piece.startswith(indent) and piece.strip()
        else piece
        for number, (piece, kind) in enumerate(zip(pieces, lexed.kinds, strict=True))
    )


def reads_as_statements(text: str, indent: str) -> str:
    """Return statements as a text that can be read alone.

    Parameters:
        indent: by what their first line would be indented.
    """
    return f"{WRAPPER}{indent}{text}\n" if indent else f"{text}\n"
