"""Imports that a module shall have, added where they are missing.

    from other import a                  from other import a, b
    import os                            import os
                                         import re
    if TYPE_CHECKING:                    if TYPE_CHECKING:
        from c import C                      from c import C
                                             from d import D

Invariants:
- an import is added where it runs before whatever needs it while the module is loaded, and behind what prepares for it;
  where there is no such place, it is refused;
- none is put into an `if` but `if TYPE_CHECKING`, and none into a `try`;
- each import is placed by the outcome of those before it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from bae_source.errors import Refused, SourceError
from bae_source.model.outcome import Notice
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.syntax.importing.meaning import Bound, Place, bindings
from bae_source.syntax.importing.merging import merged
from bae_source.syntax.importing.placing import INSTALLED, Line, Ranks, block, head, place_in, top_of
from bae_source.syntax.importing.present import Present
from bae_source.syntax.importing.wanted import Wanted, source, wanted
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.outline.definitions import ImportBinding
from bae_source.syntax.outline.locate import unit_for
from bae_source.syntax.outline.static_values import TYPE_CHECKING, is_typing_test
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.lexer import end_of_line
from bae_source.syntax.text.revision import Revision, Splices
from bae_source.syntax.text.source import NEWLINE

IMPORTS_ADDED = "imports_added"
"""Code of the notice on imports that were added."""
_NEW = Span(0, 0)
_PREPARING = ("path", "environ", "addsitedir")


class Added(Struct, frozen=True, kw_only=True):
    """Outcome of adding imports.

    Parameters:
        splices: on the module's text, with the change that brings the imports.
        statements: those that were missing.
        notices: what the caller should know.
    """

    splices: tuple[tuple[Span, str], ...]
    statements: tuple[str, ...]
    notices: tuple[Notice, ...] = ()


def add(
    tree: Tree,
    place: Place,
    statements: Iterable[str],
    *,
    splices: Sequence[tuple[Span, str]] = (),
    is_own: Callable[[str], bool] | None = None,
    merge: bool = True,
) -> Added:
    """Plan to add import statements to a module, beside another change of it that may need them.

    Parameters:
        place: the module.
        statements: source that holds nothing but imports.
        splices: the other change.
        is_own: whether a top-level name is a module of the project.
        merge: whether a name may go into a statement that is there.

    Raises:
        SourceError: `syntax_invalid` if the module does not parse and nothing else of it changes.
        RequestError: `invalid_arguments` if a statement is no import.
        Refused: `name_collision` if the module binds a name to something else; `unsafe_change` if there is no place.
    """
    wants: list[Wanted] = []
    stray: list[str] = []
    for statement in statements:
        found, left = wanted(statement)
        wants += found
        stray += left
    adding = _Adding(tree, place, splices, is_own, merge=merge)
    for each in wants:
        adding.add(each)
    text = adding.revision.text
    lost = [comment for comment in (*stray, *adding.lost) if comment not in text]
    notices = (
        [Notice("comments_dropped", f"Comments of given imports were left out: {'; '.join(lost)}.")] if lost else []
    )
    if adding.statements:
        shown = "; ".join(adding.statements)
        notices.append(imports_added([place.module], f"{shown}.{_conditional(adding.conditional)}"))
    changed = tuple(adding.revision.splices()) if adding.statements else tuple(splices)
    return Added(splices=changed, statements=tuple(adding.statements), notices=tuple(notices))


def imports_added(modules: Sequence[str], what: str) -> Notice:
    """Return the notice on imports that were added to modules.

    Parameters:
        what: the statements, as sentences.
    """
    return Notice(IMPORTS_ADDED, f"Added to {listed(modules)}: {what}", (what, *modules))


def _conditional(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f" It imported {', '.join(dict.fromkeys(names))} on some ways only, or too late."


class _Adding:
    """Adds one import after the other to a text."""

    def __init__(
        self,
        tree: Tree,
        place: Place,
        splices: Sequence[tuple[Span, str]],
        is_own: Callable[[str], bool] | None,
        *,
        merge: bool,
    ) -> None:
        self.revision = Revision(tree.text)
        self.statements: list[str] = []
        self.conditional: list[str] = []
        self.lost: list[str] = []
        self._place = place
        self._ranks = Ranks(place.module, is_own)
        self._merge = merge
        self._newline = tree.source.newline
        self._before = tree.text
        self._touched = _written(splices)
        self.revision.apply(splices)
        self._present: Present | None = None

    @property
    def present(self) -> Present:
        """The module as it has become."""
        if self._present is None or self._present.tree.text != self.revision.text:
            self._present = Present(self.revision.text, self._place, self._touched)
        return self._present

    def add(self, each: Wanted) -> None:
        """Add what is missing of a statement."""
        try:
            missing = self.present.lacks(each)
        except SourceError:
            if self.revision.text == self._before:
                raise
            return  # the other change leaves the module so, and its plan is refused
        if not missing:
            self.lost += each.comments
            return
        names = {alias.asname or alias.name for alias in missing}
        here = self.present.tree.outline.imports
        self.conditional += [b.name for b in here if b.name in names and not b.typing_only and not each.typing]
        whole = len(missing) == len(each.node.names)
        if isinstance(each.node, ast.Import):
            for alias in missing:
                self._add_statement(each, [alias], source(each.node, [alias]))
            self.lost += each.within
            return
        if not each.comments and self._merge and not each.typing:
            missing = [alias for alias in missing if not self._merged(each, alias)]
        if not missing:
            return
        if whole and len(missing) == len(each.node.names) and ("\n" in each.text or each.within):
            self._add_statement(each, missing, each.text)
            return
        self.lost += each.within
        self._add_statement(each, missing, source(each.node, missing))

    def _merged(self, each: Wanted, alias: ast.alias) -> bool:
        """Put a name into a statement that runs before all that needs it; say whether there is one."""
        assert isinstance(each.node, ast.ImportFrom)
        present, wants = self.present, list(bindings(each.node, alias, self._place))
        module = self._place.absolute(each.node.module or "", each.node.level)
        for binding in present.tree.outline.imports:
            if not binding.top or binding.attribute in (None, "*") or not self._of(binding, module):
                continue
            number = self._number(binding.start)
            if number is not None and not present.is_bound_from(number, wants):
                continue
            splices = merged(
                present.tree.text,
                Span(binding.start, binding.end),
                alias,
                newline=self._newline,
                unit=unit_for(present.tree, ()),
            )
            if splices is not None:
                self._apply(splices, source(each.node, [alias]))
                return True
        return False

    def _of(self, binding: ImportBinding, module: str) -> bool:
        return self._place.absolute(binding.module, binding.level) == module

    def _number(self, start: int) -> int | None:
        """Return the number of the statement of the module that begins at an offset, or behind it."""
        body = self.present.body
        if body is None:
            return None
        return next((n for n in range(len(body)) if self.present.start(n) >= start), len(body))

    def _add_statement(self, each: Wanted, names: Sequence[ast.alias], text: str) -> None:
        shown = source(each.node, list(names))
        rows = [*each.above, *text.split("\n")]
        rows[-1] += f"  {each.behind}" if each.behind else ""
        if each.typing:
            self._add_for_types(each, rows, shown)
            return
        present = self.present
        wants = [bound for alias in names for bound in bindings(each.node, alias, self._place)]
        line = _line(self._ranks, each.node)
        at = self._offset(line, wants)
        new = block(present.tree, self._ranks, at, line.rank, rows)
        self._apply([(Span(at, at), new)], shown)

    def _offset(self, line: Line, wants: Sequence[Bound]) -> int:
        """Return where a new statement goes.

        Raises:
            Refused: `unsafe_change` if it would run too late wherever it goes, or be undone.
        """
        present = self.present
        if present.body is None:
            return place_in(present.tree, head(present.tree, self._ranks), line)
        needed = min((present.limit([want]) for want in wants), default=len(present.body))
        limit = present.start(needed) if needed < len(present.body) else None
        prepared = self._prepared(needed) if line.rank >= INSTALLED else 0
        lines = head(present.tree, self._ranks, limit=limit, after=prepared)
        below_all = [each for each in lines if each.start >= prepared]
        otherwise = prepared if prepared and not below_all else None
        at = otherwise if otherwise is not None else place_in(present.tree, lines, line)
        if self._holds(at, limit, wants):
            return at
        last = max((n for want in wants if (n := present.last_unbinding(want.key)) is not None), default=None)
        if last is not None:
            behind = end_of_line(present.tree.text, present.start(last)) if _is_simple(present.body[last]) else 0
            behind = behind or present.tree.source.lines.end(present.tree.source.lines.number(present.end(last) - 1))
            if self._holds(behind, limit, wants):
                return behind
        raise Refused(
            "unsafe_change",
            f"There is no place where an import of {wants[0].key} would run before all that needs it and last.",
            hints=["Import it inside of the function that needs it, or under another name."],
        )

    def _holds(self, at: int, limit: int | None, wants: Sequence[Bound]) -> bool:
        number = self._number(at)
        assert number is not None
        return (limit is None or at <= limit) and all(self.present.is_bound_from(number, [want]) for want in wants)

    def _prepared(self, end: int) -> int:
        """Return the offset behind the last statement that imports rely on, such as one that changes `sys.path`."""
        present = self.present
        assert present.body is not None
        found = 0
        for number, node in enumerate(present.body[:end]):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                break
            later = present.body[number + 1 : end]
            if _prepares(node) or (
                _acts(node) and any(isinstance(each, (ast.Import, ast.ImportFrom)) for each in later)
            ):
                found = end_of_line(present.tree.text, present.end(number))
        return found

    def _add_for_types(self, each: Wanted, rows: list[str], shown: str) -> None:
        present = self.present
        splices = _put_in_block(present, _line(self._ranks, each.node), rows, self._ranks, newline=self._newline)
        if splices is None:
            module, _, _ = each.typing.rpartition(".")
            needed = f"import {module}" if module else f"from typing import {TYPE_CHECKING}"
            for other in wanted(needed)[0]:
                self.add(other)
            present = self.present
            lines = head(present.tree, self._ranks)
            at = end_of_line(present.tree.text, lines[-1].start) if lines else top_of(present.tree)
            unit = unit_for(present.tree, ())
            new = block(present.tree, self._ranks, at, -1, [f"if {each.typing}:", *(unit + row for row in rows)])
            splices = [(Span(at, at), new)]
        self._apply(splices, f"if {each.typing}: {shown}")

    def _apply(self, splices: Splices, shown: str) -> None:
        fitted = [(span, self._newline.join(NEWLINE.split(new))) for span, new in splices]
        self._touched = [_moved(each, fitted) for each in self._touched]
        self.revision.apply(fitted)
        self.statements.append(shown)


def _put_in_block(present: Present, new: Line, rows: Sequence[str], ranks: Ranks, *, newline: str) -> Splices | None:
    """Return the splices that add the lines of an import to the `if TYPE_CHECKING` that is there; None without one."""
    block = next((n for n in present.body or () if isinstance(n, ast.If) and is_typing_test(n.test)), None)
    if block is None:
        return None
    lines, text = present.tree.source.lines, present.tree.text
    first, last = block.body[0], block.body[-1]
    if first.lineno == block.lineno:
        end = span_of(lines, last).end
        return [(Span(end, end), f"; {rows[-1]}")] if len(rows) == 1 and "#" not in rows[0] else None
    start = lines.start(first.lineno)
    indent = text[start : lines.offset(first.lineno, first.col_offset)]
    imports = [each for each in block.body if isinstance(each, (ast.Import, ast.ImportFrom))]
    known = [_line(ranks, each, span_of(lines, each)) for each in imports]
    at = place_in(present.tree, known, new, otherwise=start)
    ended = at == 0 or text[at - 1] in "\r\n"
    written = newline.join(f"{indent}{row}" for row in rows)
    return [(Span(at, at), f"{written}{newline}" if ended else f"{newline}{written}")]


def _line(ranks: Ranks, node: ast.Import | ast.ImportFrom, at: Span = _NEW) -> Line:
    module, level = (node.names[0].name, 0) if isinstance(node, ast.Import) else (node.module or "", node.level)
    plain = isinstance(node, ast.Import)
    return Line(rank=ranks.of(module, level), plain=plain, level=level, module=module, start=at.start, end=at.end)


def _written(splices: Sequence[tuple[Span, str]]) -> list[Span]:
    """Return where what splices write stands afterwards."""
    found, moved = [], 0
    for span, new in sorted(splices, key=lambda each: each[0]):
        found.append(Span(span.start + moved, span.start + moved + len(new)))
        moved += len(new) - len(span)
    return found


def _moved(place: Span, splices: Splices) -> Span:
    moved = sum(len(new) - len(span) for span, new in splices if span.end <= place.start)
    return Span(place.start + moved, place.end + moved)


def _is_simple(node: ast.stmt) -> bool:
    return not hasattr(node, "body")


def _acts(node: ast.stmt) -> bool:
    """Return whether a statement only has an effect: it calls something, or sets an attribute or an item."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    targets = node.targets if isinstance(node, ast.Assign) else []
    return bool(targets) and all(isinstance(each, (ast.Attribute, ast.Subscript)) for each in targets)


def _prepares(node: ast.stmt) -> bool:
    """Return whether a statement changes where modules are found, or what they find."""
    if isinstance(node, (ast.Import, ast.ImportFrom)) or not (_acts(node) or hasattr(node, "body")):
        return False
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in _PREPARING
        and isinstance(each.value, ast.Name)
        and each.value.id in ("sys", "os", "site")
        for each in ast.walk(node)
    )
