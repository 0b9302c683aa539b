"""Import statements that a module shall have, as they were handed over.

    # why                                   <- a comment directly above belongs to the statement
    from a import (                         <- as it stands, where all of it is missing
        b,  # type: ignore
    )
    if TYPE_CHECKING: from c import D       <- for type checkers alone

Invariants:
- a comment belongs to one statement, or stands apart and is named.
"""

from __future__ import annotations

import ast

from msgspec import Struct

from bae_source.errors import RequestError, SourceError
from bae_source.model.text import is_text
from bae_source.syntax.outline.static_values import is_typing_test
from bae_source.syntax.outline.tree import parse_module, parse_text
from bae_source.syntax.text.lexer import lex
from bae_source.syntax.text.source import NEWLINE, Lines

Import = ast.Import | ast.ImportFrom
_HINTS = (
    "Give statements such as 'from typing import Any' or 'import os'.",
    "For type checkers alone: 'if TYPE_CHECKING: from a import B'.",
)


class Wanted(Struct, frozen=True, kw_only=True):
    """One import statement.

    Parameters:
        node: as CPython's parser has it.
        text: as it stands, without indentation.
        above: the comment lines directly above it.
        behind: the comment behind it.
        within: the comments between its brackets.
        typing: the condition that it is given under, such as `TYPE_CHECKING`; empty for an import that always runs.
    """

    node: Import
    text: str
    above: tuple[str, ...] = ()
    behind: str = ""
    within: tuple[str, ...] = ()
    typing: str = ""

    @property
    def comments(self) -> tuple[str, ...]:
        """All comments that come with it."""
        return (*self.above, *self.within, *([self.behind] if self.behind else []))


def wanted(statement: str) -> tuple[list[Wanted], list[str]]:
    """Return the imports in some source, and the comments that stand apart from all of them.

    Raises:
        RequestError: `invalid_arguments` if it holds anything else.
    """
    if not is_text(statement):
        raise RequestError(
            "invalid_arguments",
            f"The import {statement!r} holds a lone surrogate.",
            hints=["Give text that can be encoded as UTF-8."],
        )
    text = "\n".join(NEWLINE.split(statement)).strip()
    try:
        body = parse_module(text).body
    except (SyntaxError, RecursionError, MemoryError):
        _refuse_what_does_not_parse(text, statement)
        raise _no_import(statement) from None
    comments = _Comments(text)
    found = [each for node in body for each in _read(node, comments, statement)]
    if not found:
        raise _no_import(statement)
    return found, comments.left()


def _refuse_what_does_not_parse(text: str, statement: str) -> None:
    try:
        parse_text(text)
    except SourceError as error:
        raise RequestError(
            "invalid_arguments", f"The import {statement!r} does not parse: {error.message}", hints=_HINTS
        ) from None


def _no_import(statement: str) -> RequestError:
    return RequestError("invalid_arguments", f"{statement!r} is no import statement.", hints=_HINTS)


class _Comments:
    """The comments of a text, each of which is given out once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self._by_line = {self.lines.number(span.start): span.cut(text) for span in lex(text).comments}

    def take(self, line: int) -> str:
        """Return the comment on a line, which belongs to a statement then."""
        return self._by_line.pop(line, "")

    def above(self, line: int) -> tuple[str, ...]:
        """Return the comment lines directly above a line."""
        found: list[str] = []
        while line > 1 and self.lines.cut(line - 1).lstrip().startswith("#") and line - 1 in self._by_line:
            line -= 1
            found.insert(0, self.take(line))
        return tuple(found)

    def left(self) -> list[str]:
        """Return the comments that belong to no statement."""
        return list(self._by_line.values())


def _read(node: ast.stmt, comments: _Comments, statement: str, typing: str = "") -> list[Wanted]:
    if isinstance(node, ast.If) and not typing and not node.orelse and is_typing_test(node.test):
        condition = ast.unparse(node.test)
        return [each for inner in node.body for each in _read(inner, comments, statement, condition)]
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        raise _no_import(statement)
    first, last = node.lineno, node.end_lineno or node.lineno
    above = comments.above(first)
    within = tuple(comment for line in range(first, last) if (comment := comments.take(line)))
    start = comments.lines.offset(first, node.col_offset)
    end = comments.lines.offset(last, node.end_col_offset or 0)
    line = comments.lines.cut(first)
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    rows = comments.text[start:end].split("\n")
    return [
        Wanted(
            node=node,
            text="\n".join([rows[0], *(row.removeprefix(indent) for row in rows[1:])]),
            above=above,
            within=within,
            behind=comments.take(last),
            typing=typing,
        )
    ]


def source(node: Import, names: list[ast.alias]) -> str:
    """Return an import statement of some of the names of another one, on one line."""
    shown = ", ".join(dict.fromkeys(alias_source(each) for each in names))
    if isinstance(node, ast.Import):
        return f"import {shown}"
    return f"from {'.' * node.level}{node.module or ''} import {shown}"


def alias_source(alias: ast.alias) -> str:
    """Return one name of an import statement."""
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
