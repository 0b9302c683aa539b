"""Imports of one module that a change leaves in two statements in a row, as one.

    from pkg.b import f, was `from pkg.a import f`      gone
    from pkg.b import X                                 from pkg.b import X, f
    import pkg.b, pkg.b, was `import pkg.a, pkg.b`      import pkg.b

Invariants:
- only imports stand between the two, so nothing runs that could miss the name;
- a statement that the change wrote goes into one that was there, and has no comment.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bae_source.model.span import Span
from bae_source.syntax.importing.merging import imported_items, merged
from bae_source.syntax.outline.ast_walk import span_of, suites_of
from bae_source.syntax.text.items import take_out
from bae_source.syntax.text.lexer import end_of_line
from bae_source.syntax.text.revision import Revision, Splices
from bae_source.syntax.text.source import Lines
from bae_source.syntax.text.statement_lines import without

_Import = ast.Import | ast.ImportFrom
_ON_LINE = re.compile(r"^[ \t]*((?:from|import)\b[^\r\n]*)", re.MULTILINE)
_WORD = re.compile(r"[\w.]+")


def with_joined(text: str, splices: Sequence[tuple[Span, str]], *, newline: str) -> Splices:
    """Return the splices of a change, with its new imports put into the present ones.

    Parameters:
        text: of a module, which parses afterwards if it does before.
        newline: of its lines.
    """
    revision = Revision(text)
    revision.apply(splices)
    if not _may_be_doubled(revision.text):
        return list(splices)
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return list(splices)  # newer than the Python that runs here, or too deep
    known, unit = _counted(_runs(body)), _unit(text, body)
    while (step := _step(revision.text, known, newline, unit)) is not None:
        revision.apply(step)
    return revision.splices()


def _may_be_doubled(text: str) -> bool:
    """Return whether two lines import from one module, or one line has a word twice."""
    modules: set[tuple[str, ...]] = set()
    for match in _ON_LINE.finditer(text):
        words = _WORD.findall(match[1])
        if len(set(words)) < len(words) or (module := tuple(words[:2])) in modules:
            return True
        modules.add(module)
    return False


def _step(text: str, known: Counter[str], newline: str, unit: str) -> Splices | None:
    """Return the splices by which a statement loses doubled imports; None if it has none."""
    lines, runs = Lines(text), list(_runs(ast.parse(text).body))
    now = _counted(runs)
    for run in runs:
        for node in run:
            span, shown = span_of(lines, node), _shown(node)
            if now[shown] <= known[shown] or "#" in text[span.start : end_of_line(text, span.end)]:
                continue
            names = [ast.unparse(alias) for alias in node.names]
            if len(set(names)) < len(names):
                return _once(text, span, node, names)
            for other in run:
                if other is node or not known[_shown(other)] or _module(other) != _module(node):
                    continue
                step = _into(text, lines, node, other, newline, unit)
                if step is not None:
                    known[_shown(other, node)] += 1
                    return [*step, *without(text, lines, span)]
    return None


def _once(text: str, span: Span, node: _Import, names: Sequence[str]) -> Splices:
    """Return the splices by which a statement has a name once that it has twice."""
    again = next(number for number, name in enumerate(names) if name in names[:number])
    items = imported_items(text, span) if isinstance(node, ast.ImportFrom) else None
    if items is not None:
        return take_out(text, items, again)
    names = list(dict.fromkeys(names))
    return [(span, f"import {', '.join(names)}")]


def _into(text: str, lines: Lines, node: _Import, other: _Import, newline: str, unit: str) -> Splices | None:
    """Return the splices that put a statement's imports into another one; None where they do not fit."""
    span = span_of(lines, other)
    behind = len(text) - span.end
    revision = Revision(text)
    there = [ast.unparse(alias) for alias in other.names]
    for alias in node.names:
        if ast.unparse(alias) in there:
            continue
        now = Span(span.start, len(revision.text) - behind)
        splices = merged(revision.text, now, alias, newline=newline, unit=unit)
        if splices is None:
            return None
        revision.apply(splices)
    return revision.splices()


def _module(node: _Import) -> tuple[str | None, int]:
    """Return the `from` of a statement and its level; of a plain import its text."""
    if isinstance(node, ast.ImportFrom):
        return f"from {node.module or ''}", node.level
    return ast.unparse(node), 0


def _counted(runs: Iterable[Sequence[_Import]]) -> Counter[str]:
    return Counter(_shown(node) for run in runs for node in run)


def _shown(node: _Import, more: _Import | None = None) -> str:
    """Return a statement, whatever the order of its names; with the names of another one."""
    names = {ast.unparse(alias) for each in (node, more or node) for alias in each.names}
    return f"{_module(node)} {sorted(names)}"


def _unit(text: str, body: Iterable[ast.stmt]) -> str:
    """Return the indentation of the first suite of a module that stands on lines of its own."""
    lines = Lines(text)
    suites = (suite for node in body for suite in suites_of(node) if suite and suite[0].lineno > node.lineno)
    first = next((suite[0] for suite in suites), None)
    return lines.cut(first.lineno)[: first.col_offset] if first is not None else "    "


def _runs(body: Iterable[ast.stmt]) -> Iterator[list[_Import]]:
    """Yield imports that follow each other, of each suite."""
    for are_imports, nodes in groupby(body, lambda node: isinstance(node, _Import)):
        if are_imports:
            yield [node for node in nodes if isinstance(node, _Import)]
            continue
        for node in nodes:
            for suite in suites_of(node):
                yield from _runs(suite)
