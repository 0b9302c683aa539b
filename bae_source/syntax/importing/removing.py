"""Imported names taken out of the statements that import them, and these with their lines once they import nothing.

from app import a, b    b goes: from app import a       a goes as well: the line goes
try:
    from app import a   a goes: `pass` stays in its place, since the suite would be empty
import b
# about a
import a                the comment goes as well; one that heads several imports, or rules over the file, stays
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct, structs

from bae_source.model.span import Span
from bae_source.syntax.importing.merging import imported_items
from bae_source.syntax.importing.purposes import ImportedName
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.outline.locate import comments_above, kept_above
from bae_source.syntax.outline.static_values import is_typing_test
from bae_source.syntax.text.items import take_out
from bae_source.syntax.text.revision import Revision, Splices
from bae_source.syntax.text.source import Lines
from bae_source.syntax.text.statement_lines import without

Import = ast.Import | ast.ImportFrom
IsGone = Callable[[Import, ast.alias], bool]
"""Says whether one name of a statement goes."""
_WORD = re.compile(r"\w+")
_BLANK = re.compile(r"[ \t\f]*(?:\r\n|\n|\r)")
_BLANKS_ABOVE = re.compile(r"(?:(?<=[\r\n])(?!(?<=\r)\n)[ \t\f]*(?:\r\n|\n|\r))*\Z")
_SUITES = ("body", "orelse", "finalbody")


class _Place(Struct, frozen=True, kw_only=True):
    """A statement in its suite.

    Parameters:
        node: the statement; of a suite that belongs to a part of one, such as an `except`, that part.
        before, after: the statements above and below it in the suite.
        at_head: whether nothing but the module's docstring stands above it.
        owner: what its suite belongs to; None in the module itself.
    """

    node: ast.AST
    before: ast.stmt | None
    after: ast.stmt | None
    at_head: bool
    owner: _Place | None

    @property
    def is_alone(self) -> bool:
        """True where its suite has nothing else."""
        return self.before is None and self.after is None


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
    for place in _imports(ast.parse(text).body, of_module=of_module):
        node, owner = place.node, place.owner if place.is_alone else None
        assert isinstance(node, Import)
        gone = [number for number, alias in enumerate(node.names) if is_gone(node, alias)]
        if not gone:
            continue
        span = span_of(lines, node)
        if len(gone) == len(node.names):
            return _without(text, lines, place, owner), len(gone)
        items = imported_items(text, span) if isinstance(node, ast.ImportFrom) else None
        if items is not None:
            return take_out(text, items, gone[0]), 1
        kept = [alias for number, alias in enumerate(node.names) if number not in gone]
        return [(span, ast.unparse(_with_names(node, kept)))], len(gone)
    return None


def _imports(body: list[ast.stmt], owner: _Place | None = None, *, of_module: bool) -> Iterator[_Place]:
    """Yield every import statement."""
    for number, node in enumerate(body):
        place = _Place(
            node=node,
            before=body[number - 1] if number else None,
            after=body[number + 1] if number + 1 < len(body) else None,
            at_head=owner is None and (number == 0 or (number == 1 and _is_string(body[0]))),
            owner=owner,
        )
        if isinstance(node, Import):
            yield place
            continue
        if of_module and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for name in _SUITES:
            yield from _imports(getattr(node, name, None) or [], place, of_module=of_module)
        for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _imports(each.body, structs.replace(place, node=each), of_module=of_module)


def _is_string(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _without(text: str, lines: Lines, place: _Place, owner: _Place | None) -> Splices:
    """Return the splices that take an import out, with the comment above it that is its own.

    Parameters:
        owner: what has nothing but the import in its suite; None where that has more.
    """
    node = owner.node if owner is not None else None
    if owner is not None and isinstance(node, ast.If) and is_typing_test(node.test) and not node.orelse:
        return _without(text, lines, owner, None)
    assert isinstance(place.node, ast.stmt)
    span = span_of(lines, place.node)
    comment = _own_comment(lines, place, span)
    if owner is not None:
        return [*([(comment, "")] if comment else []), (span, "pass")]
    (gone, new), *others = without(text, lines, span)
    if comment and gone.start == comment.end:
        gone = Span(comment.start, gone.end)
    return closed_up(text, [(gone, new), *others])


def _own_comment(lines: Lines, place: _Place, span: Span) -> Span | None:
    """Return the comment lines directly above a statement that mention it alone; None where there are none.

    Where the next statement follows line by line, that is a comment below another import, or one that names what is
    imported here and not there:

        # standard library       <- heads the imports below, and stays
        import os
        # for the search path    <- goes with `import sys`
        import sys
        import re
    """
    line = lines.number(span.start)
    indent = lines.text[lines.start(line) : span.start]
    floor = (place.before.end_lineno or 0) if place.before else 0
    top = comments_above(lines, line, floor, indent) if not indent.strip(" \t\f") else line
    own = top + kept_above(lines, top, line, at_head=place.at_head) if top < line else line
    if own == line:
        return None
    from bae_source.syntax.text.leading import is_ruled  # 2 ms, for comments alone

    comment = Span(lines.start(own), lines.start(line))
    words = set(_WORD.findall(comment.cut(lines.text)))
    follows = place.after is not None and place.after.lineno <= lines.number(span.end) + 1
    is_of_it = (isinstance(place.before, Import) and floor == top - 1) or not words.isdisjoint(_named(place.node))
    is_shared = follows and not (is_of_it and words.isdisjoint(_named(place.after)))
    return None if is_shared or is_ruled(comment.cut(lines.text)) else comment


def _named(node: ast.AST | None) -> set[str]:
    """Return the words of an import."""
    return set(_WORD.findall(ast.unparse(node))) - {"import", "from", "as"} if isinstance(node, Import) else set()


def closed_up(text: str, splices: Splices) -> Splices:
    """Return splices that take lines out, with the blank lines below that those above, or a header, make needless."""
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
