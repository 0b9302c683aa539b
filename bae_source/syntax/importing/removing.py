"""Imported names taken out of the statements that import them, and these with their lines once they import nothing.

from app import a, b        b goes: from app import a        a goes as well: the line goes
try:
from app import a       a goes: `pass` stays in its place, since the suite would be empty
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from bae_source.model.span import Span
from bae_source.syntax.importing.merging import imported_items
from bae_source.syntax.importing.purposes import ImportedName
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.outline.static_values import is_typing_test
from bae_source.syntax.text.items import take_out
from bae_source.syntax.text.revision import Revision, Splices
from bae_source.syntax.text.source import Lines
from bae_source.syntax.text.statement_lines import without

Import = ast.Import | ast.ImportFrom
IsGone = Callable[[Import, ast.alias], bool]
"""Says whether one name of a statement goes."""
_BLANK = re.compile(r"[ \t\f]*(?:\r\n|\n|\r)")
_BLANKS_ABOVE = re.compile(r"(?:(?<=[\r\n])[ \t\f]*(?:\r\n|\n|\r))*\Z")
_SUITES = ("body", "orelse", "finalbody")


def without_names(text: str, names: Iterable[ImportedName]) -> Splices:
    """Return the splices that take names out of the statements that import them.

    Parameters:
        text: of a module, which parses.
        names: as `imported_names` gives them of this text.
    """
    revision = Revision(text)
    statements: dict[tuple[int, int], set[tuple[str, str | None]]] = {}
    for each in names:
        statements.setdefault((each.line, each.column), set()).add((each.attribute or each.module, each.asname))
    for place, gone in sorted(statements.items(), reverse=True):  # what stands above keeps its place meanwhile

        def is_gone(node: Import, alias: ast.alias, place: object = place, gone: object = gone) -> bool:
            return (node.lineno, node.col_offset) == place and (alias.name, alias.asname) in gone  # type: ignore[operator]

        for _ in gone:
            step = _first(revision.text, is_gone, of_module=False)
            if step is None:
                break
            revision.apply(step[0])
            if step[1] == len(gone):
                break
    return revision.splices()


def remove_imported(revision: Revision, is_gone: IsGone, *, of_module: bool = False) -> int:
    """Take names out of the imports of a module, wherever these stand, and return how many have gone.

    Parameters:
        revision: the module's text, which parses.
        of_module: whether only imports that bind names of the module itself are looked at.
    """
    count = 0
    while (step := _first(revision.text, is_gone, of_module=of_module)) is not None:
        splices, gone = step
        revision.apply(splices)
        count += gone
    return count


def _first(text: str, is_gone: IsGone, *, of_module: bool) -> tuple[Splices, int] | None:
    """Return how the first statement with a name that goes is changed, and how many names go; None if there is none."""
    lines = Lines(text)
    for node, owner in _statements(ast.parse(text).body, of_module=of_module):
        gone = [number for number, alias in enumerate(node.names) if is_gone(node, alias)]
        if not gone:
            continue
        span = span_of(lines, node)
        is_whole = len(gone) == len(node.names)
        if is_whole and isinstance(owner, ast.If) and is_typing_test(owner.test) and not owner.orelse:
            return closed_up(text, without(text, lines, span_of(lines, owner))), len(gone)
        if is_whole:
            return ([(span, "pass")] if owner else closed_up(text, without(text, lines, span))), len(gone)
        items = imported_items(text, span) if isinstance(node, ast.ImportFrom) else None
        if items is not None:
            return take_out(text, items, gone[0]), 1
        kept = [alias for number, alias in enumerate(node.names) if number not in gone]
        return [(span, ast.unparse(_with_names(node, kept)))], len(gone)
    return None


def _statements(
    body: list[ast.stmt], owner: ast.AST | None = None, *, of_module: bool
) -> Iterator[tuple[Import, ast.AST | None]]:
    """Yield every import statement, and what it is alone in the suite of."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, owner if len(body) == 1 else None
            continue
        if of_module and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for name in _SUITES:
            yield from _statements(getattr(node, name, None) or [], node, of_module=of_module)
        for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _statements(each.body, each, of_module=of_module)


def closed_up(text: str, splices: Splices) -> Splices:
    """Return what takes lines out, with the blank lines below that those above, or a header, make needless."""
    if len(splices) != 1 or splices[0][1]:
        return splices
    span = splices[0][0]
    above = len(_BLANK.findall(text[_BLANKS_ABOVE.search(text, 0, span.start).start() : span.start]))  # type: ignore[union-attr]
    end = span.end
    before = text[: span.start].rstrip()
    opens = not before or before.endswith(":")  # the file, or a suite
    while (above or opens) and (blank := _BLANK.match(text, end)):
        end, above = blank.end(), above - 1
    return [(Span(span.start, end), "")]


def _with_names(node: Import, names: list[ast.alias]) -> Import:
    if isinstance(node, ast.Import):
        return ast.Import(names=names)
    return ast.ImportFrom(module=node.module, names=names, level=node.level)
