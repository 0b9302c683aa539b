"""The import statements of a file, with the offsets that they have in it.

    if fast:                         lines 2 and 4 are known to have imports: these lines alone are parsed, each as a
        from app import core         statement of its own, with the lines that its brackets hold
    else: import slow                no statement by itself, so the whole file is parsed

Invariants:
- where lines alone are parsed, each of them has an import that begins on it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from bae_source.syntax.outline.ast_walk import suites_of
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.text.lexer import end_of_line
from bae_source.syntax.text.source import Lines
from bae_source.system.collecting import collector_off


def import_statements(text: str, lines: Lines, known: Collection[int] | None) -> list[ast.Import | ast.ImportFrom]:
    """Return the import statements of a text, in any order.

    Parameters:
        known: the lines on which they begin; None if that is not known.

    Raises:
        SyntaxError, RecursionError, MemoryError: as `parse_module`.
    """
    with collector_off():
        if known is not None:
            try:
                return [each for line in known for each in _on_line(text, lines, line)]
            except SyntaxError:
                pass
        return list(_among(parse_module(text).body))


def _on_line(text: str, lines: Lines, line: int) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports that begin on one line; raise SyntaxError where it does not begin with a statement."""
    start = lines.start(line)
    whole = text[start : end_of_line(text, start)]
    piece = whole.lstrip(" \t\f")
    indent = len(whole) - len(piece)
    found = list(_among(parse_module(piece).body))
    if not found or any(each.lineno != 1 for each in found):
        raise SyntaxError
    for each in found:
        for node in (each, *each.names):
            node.col_offset += indent * (node.lineno == 1)
            if node.end_col_offset is not None:
                node.end_col_offset += indent * (node.end_lineno == 1)
        ast.increment_lineno(each, line - 1)
    return found


def _among(body: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement
        else:
            waiting += [inner for suite in suites_of(statement) for inner in suite]
