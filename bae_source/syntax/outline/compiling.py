"""Judges whether code that parses compiles too: `return` outside a function parses, and no Python runs it.

    class A:
        def m(self):
            await go()       <- what was written here: `m` alone is compiled, below the header of another class

Invariants:
- nothing is run;
- compiling all of a file takes as long as parsing it, so only the definitions that were written in are compiled, and
  the file as a whole where the text stands in none, or where one of them fails;
- code that is too long, too deep or too new for the running compiler is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bae_source.errors import SourceError
from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import Definition, Kind
from bae_source.syntax.outline.locate import suite_is_inline
from bae_source.syntax.outline.tree import Tree
from bae_source.system.silence import unwarned

MAX_CHARACTERS = 1_000_000
"""A longer text is not compiled: CPython's compiler was seen to crash on a comprehension of this size."""
_TOO_MUCH = (RecursionError, MemoryError, ValueError, OverflowError, SystemError)
_NO_CODE = re.compile(r"(?:[\s;\\]|#[^\r\n]*)*")
_HEADER = "class _:\n"


def compile_error(tree: Tree, written: Iterable[Span] | None = None) -> SourceError | None:
    """Return why a file does not compile; None if it does, or cannot be judged.

    Parameters:
        written: the spans of its text to look at; None for all of it.

    Returns:
        `syntax_invalid`, with `line`, `column` and `reason` in its details.
    """
    if tree.newer:
        return None
    pieces = _pieces(tree, written) if written is not None else None
    at_fault = next((error for piece in pieces if (error := _error(piece))), None) if pieces is not None else None
    if pieces is not None and at_fault is None:
        return None
    try:
        whole = _compiled(tree.text)
    except _TOO_MUCH:
        whole = at_fault  # a piece has been judged, and the whole cannot be
    if whole is None:
        return None
    error = at_fault or whole
    line, column = error.lineno or 1, error.offset or 1
    return SourceError(
        "syntax_invalid",
        f"does not compile: line {line}, column {column}: {error.msg}.",
        subject="The code",
        details={"line": line, "column": column, "reason": error.msg},
    )


def compiles(text: str) -> bool:
    """Return whether the running Python parses and compiles a text; False, too, where it gives up."""
    try:
        return _compiled(text) is None
    except _TOO_MUCH:
        return False


def _error(text: str) -> SyntaxError | None:
    """Return the error that the compiler has for a text; None where it has none, or gives up."""
    try:
        return _compiled(text)
    except _TOO_MUCH:
        return None


def _compiled(text: str) -> SyntaxError | None:
    """Compile a text, and return the error that comes of it; raise one of `_TOO_MUCH` where the compiler gives up."""
    if len(text) > MAX_CHARACTERS:
        raise MemoryError
    with unwarned():
        try:
            compile(text, "<planned>", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
    return None


def _pieces(tree: Tree, written: Iterable[Span]) -> list[str] | None:
    """Return the definitions around some spans as texts that keep their lines; None if they stand in none."""
    found: dict[Definition, None] = {}
    for span in written:
        around = _around(tree, span, 0)
        if around is None:
            return None
        found.update(dict.fromkeys(around))
    return [_piece(tree, definition) for definition in found]


def _around(tree: Tree, span: Span, suite: int) -> list[Definition] | None:
    """Return the definitions of a suite that a span touches; of a class around it, those inside."""
    touched = [
        each
        for each in tree.outline.definitions
        if each.suite == suite and not each.inline and each.span.start <= span.end and span.start <= each.span.end
    ]
    if len(touched) == 1 and (inside := _inside(tree, span, touched[0])):
        return inside
    position = span.start
    for each in touched:
        if not _is_blank(tree, position, each.span.start):
            return None
        position = max(position, each.span.end)
    return touched if _is_blank(tree, position, span.end) else None


def _inside(tree: Tree, span: Span, definition: Definition) -> list[Definition] | None:
    """Return what of the body of a class a span touches, if it stands in the body and touches only definitions."""
    if definition.kind is not Kind.CLASS or definition.body is None or suite_is_inline(tree, definition):
        return None
    suite = tree.outline.suites[definition.body]
    if suite is None or not (suite.start <= span.start and span.end <= definition.span.end):
        return None
    return _around(tree, span, definition.body)


def _is_blank(tree: Tree, start: int, end: int) -> bool:
    return end <= start or bool(_NO_CODE.fullmatch(tree.text, start, end))


def _piece(tree: Tree, definition: Definition) -> str:
    header = _HEADER if definition.indent else ""
    above = tree.source.lines.number(definition.span.start) - 1 - bool(header)
    return "\n" * above + header + definition.span.cut(tree.text)
