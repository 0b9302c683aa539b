"""Imported names taken out of the statements that import them, and these with their lines once they import nothing.

from app import a, b        b goes: from app import a        a goes as well: the line goes
try:
from app import a       a goes: `pass` stays in its place, since the suite would be empty
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from bae_source.model.span import Span
from bae_source.syntax.exports_items import take_out
from bae_source.syntax.exports_lines import without
from bae_source.syntax.exports_revision import Revision, Splices
from bae_source.syntax.importing.merging import imported_items
from bae_source.syntax.source import Lines

Import = ast.Import | ast.ImportFrom
IsGone = Callable[[Import, ast.alias], bool]
"""Says whether one name of a statement goes."""
_SUITES = ("body", "orelse", "finalbody")


def remove_imported(revision: Revision, is_gone: IsGone) -> int:
    """Take names out of the imports of a module, wherever these stand, and return how many have gone.

    Parameters:
        revision: the module's text, which parses.
    """
    count = 0
    while (step := _first(revision.text, is_gone)) is not None:
        splices, gone = step
        revision.apply(splices)
        count += gone
    return count


def _first(text: str, is_gone: IsGone) -> tuple[Splices, int] | None:
    """Return how the first statement with a name that goes is changed, and how many names go; None if there is none."""
    lines = Lines(text)
    for node, is_alone in _statements(ast.parse(text).body):
        gone = [number for number, alias in enumerate(node.names) if is_gone(node, alias)]
        if not gone:
            continue
        span = _span(lines, node)
        if len(gone) == len(node.names):
            return ([(span, "pass")] if is_alone else without(text, lines, span)), len(gone)
        items = imported_items(text, span) if isinstance(node, ast.ImportFrom) else None
        if items is not None:
            return take_out(text, items, gone[0]), 1
        kept = [alias for number, alias in enumerate(node.names) if number not in gone]
        return [(span, ast.unparse(_with_names(node, kept)))], len(gone)
    return None


def _statements(body: list[ast.stmt], *, inside: bool = False) -> Iterator[tuple[Import, bool]]:
    """Yield every import statement, and whether it is the only statement of a suite."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, inside and len(body) == 1
            continue
        for name in _SUITES:
            yield from _statements(getattr(node, name, None) or [], inside=True)
        for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _statements(each.body, inside=True)


def _span(lines: Lines, node: Import) -> Span:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Span(lines.offset(node.lineno, node.col_offset), lines.offset(node.end_lineno, node.end_col_offset))


def _with_names(node: Import, names: list[ast.alias]) -> Import:
    if isinstance(node, ast.Import):
        return ast.Import(names=names)
    return ast.ImportFrom(module=node.module, names=names, level=node.level)
