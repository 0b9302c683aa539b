"""A rewrite as a plan's parts: what changes in each file, and the report on all of it.

Invariants:
- a place where it is not known whether it is meant, or which cannot take the replacement, is unsure and has a reason;
- each address has the number of its places, those in other places counted, too.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.files.second_names import second_names
from bae_source.project.references.meaning.project import shown
from bae_source.project.search.code import candidates
from bae_source.project.search.scope import Scope, Searched
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.choice import Choice
from bae_source.refactoring.planning.generated import GENERATED, generated_among
from bae_source.refactoring.planning.plan import Spliced
from bae_source.refactoring.rewriting.conditions import Condition, undecided
from bae_source.syntax.outline.locate import definition_around, qualname_of
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.patterns.holes import one_hole
from bae_source.syntax.patterns.pattern import Match, Pattern, matches_in
from bae_source.syntax.templates.replacing import Replaced, Replacer
from bae_source.syntax.templates.template import Template
from bae_source.syntax.text.source import Source
from bae_source.system.collecting import collector_off


class Rewriting(Struct, frozen=True, kw_only=True):
    """The pattern, the template and the conditions of a rewrite.

    Parameters:
        pattern: the code to search for.
        template: what takes its place.
        conditions: what its holes have to stand for.
        choice: about places that are not sure.
    """

    pattern: Pattern
    template: Template
    conditions: tuple[Condition, ...]
    choice: Choice

    @property
    def moved(self) -> frozenset[str]:
        """The holes for one thing that have other arguments or elements beside them than in the pattern."""
        before, after = _rows(self.pattern.nodes), _rows([self.template.tree])
        return frozenset(name for name, row in before.items() if row != after.get(name))


class Rewritten(Struct, frozen=True, kw_only=True):
    """The result of a rewrite.

    Parameters:
        spliced: what changes in each module.
        report: what changes, what stays, and why.
        notices: further remarks for the outcome.
        undecided: places of which it is not known whether they are meant, changed ones, too.
        same: how many places hold already what the replacement comes to there.
        matches: how many places the pattern matches, those that the conditions rule out, too.
    """

    spliced: tuple[Spliced, ...]
    report: Report
    same: int
    matches: int
    undecided: tuple[Reference, ...]
    notices: tuple[Notice, ...]


class _File(Struct, frozen=True):
    """A file with matches, which are nodes of its tree."""

    searched: Searched
    module: ModuleFile
    source: Source
    tree: ast.Module
    matches: tuple[Match, ...]


def _rows(nodes: Sequence[ast.AST]) -> dict[str, list[str]]:
    """Return the arguments or elements that each hole of some code is one of."""
    found: dict[str, list[str]] = {}
    for node in (each for top in nodes for each in ast.walk(top)):
        row = [*node.args, *node.keywords] if isinstance(node, ast.Call) else getattr(node, "elts", [])
        for each in row:
            if isinstance(each, ast.Name) and (hole := one_hole(each)):
                found.setdefault(hole, []).extend(map(ast.dump, row))
    return found


def rewritten(workspace: Workspace, scope: Scope, rewriting: Rewriting) -> Rewritten:
    """Return the result of rewriting a scope.

    Raises:
        LookupFailed: a condition names what is not there.
    """
    unread: list[tuple[str, ResourceError]] = []
    with collector_off():
        every = list(_files(workspace, scope, rewriting.pattern, unread))
        doubled = second_names(workspace.files, [each.module.path for each in every])
        files = [each for each in every if each.module.path not in doubled]
        open_ones: dict[tuple[str, int], str | None] = {}
        if rewriting.conditions and files:
            found = {each.module.path: (each.source, each.matches) for each in files}
            open_ones = undecided(workspace, rewriting.conditions, found)
        generated = (
            generated_among(workspace, (each.module.path for each in files))
            if rewriting.choice.skip_generated
            else frozenset()
        )
        works = [_Work(workspace, each, rewriting, open_ones, each.module.path in generated) for each in files]
        for work in works:
            work.do()
    changed: Counter[str] = Counter()
    for work in works:
        changed.update(work.changed)
    report = Report(
        changed=dict(changed),
        unsure=tuple(place for work in works for place in work.unsure),
        unparsed=tuple(unread),
        complete=not unread and scope.complete,
    )
    dropped = [f"{work.file.module.name}:{line}" for work in works for line in work.dropped]
    notices = scope.notices
    if dropped:
        what = "comments inside of what was rewritten go with it"
        notices = (*notices, Notice("comments_dropped", f"In {listed(dropped, 10)}, {what}."))
    spliced = tuple(work.spliced for work in works if work.spliced.splices)
    undecided_places = tuple(place for work in works for place in work.undecided)
    same = sum(work.same for work in works)
    return Rewritten(
        spliced=spliced,
        report=report,
        same=same,
        matches=sum(len(each.matches) for each in files),
        undecided=undecided_places,
        notices=notices,
    )


def _files(
    workspace: Workspace, scope: Scope, pattern: Pattern, unread: list[tuple[str, ResourceError]]
) -> Iterator[_File]:
    for searched, source in candidates(workspace, scope, pattern):
        try:
            if isinstance(source, ResourceError):
                raise source
            tree, matches = matches_in(pattern, source, in_fields=True)
        except ResourceError as error:
            unread.append((searched.name, error))
            continue
        if scope.span is not None:
            matches = [each for each in matches if scope.span.contains(each.span)]
        module = workspace.census.module(searched.path)
        if matches and module is not None:
            yield _File(searched, module, source, tree, tuple(matches))


class _Work:
    """The rewriting of one file.

    Attributes:
        spliced: what changes.
        changed: how many places change in each symbol.
        unsure: places that stay.
        undecided: places of which it is not known whether they are meant.
        dropped: lines of places whose comments go.
        same: how many places hold already what the replacement comes to there.
    """

    def __init__(
        self,
        workspace: Workspace,
        file: _File,
        rewriting: Rewriting,
        open_ones: dict[tuple[str, int], str | None],
        is_generated: bool,
    ) -> None:
        self.workspace = workspace
        self.file = file
        self.rewriting = rewriting
        self.open_ones = open_ones
        self.is_generated = is_generated
        self.changed: Counter[str] = Counter()
        self.unsure: list[Reference] = []
        self.undecided: list[Reference] = []
        self.dropped: list[int] = []
        self.same = 0
        self.spliced = Spliced(module=file.module, splices=())

    def do(self) -> None:
        """Find out what changes."""
        chosen = [match for number, match in enumerate(self.file.matches) if self._is_meant(number, match)]
        if not chosen:
            return
        replacer = Replacer(self.file.source, self.file.tree, chosen, self.rewriting.pattern, self.rewriting.template)
        for each in replacer.replaced():
            if each.text is None:
                self.unsure.append(self._place(each.match, each.why))
            elif each.is_same:
                self.same += 1
            else:
                self._count(each)
        every = ((each.span, each.text or "") for each in replacer.outermost())
        splices = [(span, new) for span, new in every if new != span.cut(self.file.source.text)]
        self.spliced = Spliced(
            module=self.file.module, splices=tuple(splices), targets=tuple(span for span, _ in splices)
        )

    def _is_meant(self, number: int, match: Match) -> bool:
        if self.is_generated:
            self.unsure.append(self._place(match, GENERATED))
            return False
        condition = None
        if self.rewriting.conditions:
            key = (self.file.module.path, number)
            if key not in self.open_ones:
                return False
            condition = self.open_ones[key]
        if condition is not None:
            why = Reason.UNDECIDED.of(condition=condition)
        elif self._has_star(match):
            why = Reason.ANY_NUMBER.of()
        else:
            return True
        place = self._place(match, why)
        self.undecided.append(place)
        if self.rewriting.choice.takes(place):
            return True
        self.unsure.append(place)
        return False

    def _has_star(self, match: Match) -> bool:
        """Return whether a hole for one thing stands for a starred one, and gets other things beside it."""
        starred = {name for name, things in match.bound.items() if things and isinstance(things[0], ast.Starred)}
        return bool(starred) and not starred.isdisjoint(self.rewriting.moved)

    def _count(self, each: Replaced) -> None:
        self.changed[self._address(each.match.span)] += 1
        if each.comments:
            self.dropped.append(self.file.source.lines.number(each.span.start))

    def _address(self, span: Span) -> str:
        outline = self._tree.outline
        number = definition_around(outline, span.start)
        name = self.file.searched.name
        return name if number is None else f"{name}.{'.'.join(map(str, qualname_of(outline, number)))}"

    @property
    def _tree(self) -> Tree:
        return self.workspace.tree(self.file.module)

    def _place(self, match: Match, why: str) -> Reference:
        place = self.file.source.lines.place(match.span.start)
        return Reference(
            module=self.file.searched.name,
            address=self._address(match.span),
            line=place.line,
            column=place.column,
            kind="read",
            certainty="unsure",
            why=why,
            text=shown(self.file.source.lines.cut(place.line)),
        )
