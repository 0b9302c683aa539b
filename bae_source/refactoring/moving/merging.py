"""The plan of a merge: all that a module defines goes into another module, and all that imports it is led there.

    pkg/a.py: import re; LIMIT = 3; def f(): …        gone
    pkg/b.py: from pkg.a import f; def g(): f()       import re; def g(): f(); LIMIT = 3; def f(): …
    from pkg.a import f                               from pkg.b import f
    import pkg.a; pkg.a.f()                           import pkg.b; pkg.b.f()

Invariants:
- statements keep their order, and no name means another thing than before;
- names that both modules have refuse the merge, but for assignments that are the same in both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, RequestError, SourceError
from bae_source.model.changeset import ChangeSet
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.report import Report
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.facts.mentions import Mentioning
from bae_source.project.importing.plan import added_imports
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.references.meaning.meanings import InModule, Meaning, Symbol
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.search.references import search_code
from bae_source.project.workspace import Workspace
from bae_source.refactoring.moving.choice import Choice
from bae_source.refactoring.moving.local_imports import inside_functions
from bae_source.refactoring.moving.modules import ModuleMove
from bae_source.refactoring.moving.prose import Moved, with_prose
from bae_source.refactoring.moving.refusing import check_importable, check_unsure, counted_places
from bae_source.refactoring.moving.users import Retargeting, sought_of
from bae_source.refactoring.planning.extent import Extent, cut_off, gone
from bae_source.refactoring.planning.generated import check_written_by_hand, without_generated
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.refactoring.planning.unresolved import check_resolved
from bae_source.syntax.exports.all_names import put_in_all
from bae_source.syntax.exports.view import view_of
from bae_source.syntax.importing.removing import remove_imported
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.apart import Apart, apart
from bae_source.syntax.rewrite.place import Position, insert
from bae_source.syntax.text.revision import Revision

_CHAIN = re.compile(r"(?<![\w.])((?:[^\W\d]\w*\s*\.\s*)+)$")
_OF_MODULE = frozenset({"__name__", "__file__", "__package__", "__spec__", "__doc__"})
_NO_NAME = (u.STRING, u.MENTION, u.EXPORT, u.IMPORT)
_AS_IT_LOADS = (u.READ, u.CALL, u.BASE, u.DECORATOR, u.ANNOTATION)


def plan_merge(workspace: Workspace, extent: Extent, to: str, choice: Choice) -> Plan:
    """Plan to take all that a module defines into another.

    Raises:
        RequestError: `invalid_arguments` for what is no module, or for one and the same.
        LookupFailed: there is no such module, or several.
        Refused: `name_collision` for a name of both; `unsafe_change` where a statement cannot go, or it is unsure what
            means the module.
    """
    target = _target(workspace, extent, to)
    origin = resolve(workspace, f"{extent.name}@module")
    _check_captured(project_of(workspace), origin.module, target.module)
    reading = _with_bare_names(workspace, origin, target.module)
    merge = Merge(reading, resolve(reading, f"{extent.name}@module"), target)
    spliced, report = merge.result()
    if choice.skip_generated:
        check_written_by_hand(
            workspace, {**dict.fromkeys(extent.files, extent.address), target.module.path: target.module.name}
        )
        spliced, report = without_generated(merge.project, spliced, report, [merge.sought.word])
    check_unsure(extent.address, report, choice)
    stubs, notices = _stubs(workspace, extent, target.module)
    plan = planned_files(
        workspace,
        spliced=(*spliced, *stubs),
        contents={**dict.fromkeys(extent.files), **merge.contents},
        summary=f"Merged {extent.address} into {target.module.name}: {counted_places(report)}.",
        changed=(target.module.name, extent.address),
        seen=(extent.etag,),
        warnings=(*merge.notices, *notices, *cut_off(workspace, extent)),
    )
    paths = [each.module.path for each in spliced]
    check_resolved(project_of(workspace), project_of(workspace.after(plan.changes)), paths)
    plan = replace(plan, gone=gone(extent), report=report, circles=True)
    return with_prose(workspace, plan, [Moved(sought=merge.sought, new=target.module.name)], choice)


def _target(workspace: Workspace, extent: Extent, to: str) -> Resolved:
    """Return the module that is to take all."""
    if extent.kind != "module" or (extent.module is not None and extent.module.package):
        raise RequestError(
            "invalid_arguments",
            f"{extent.address} is a {extent.kind}; only a module is merged.",
            hints=["Merge its modules one by one."],
        )
    try:
        found = resolve(workspace, to)
    except LookupFailed as error:
        hint = f"move {extent.address} {to} without --merge gives it that name."
        raise error.altered(hints=[hint]) from None
    check_importable(found.module)
    if found.group is not None or found.address.part is not None or found.module.package:
        what = "a package" if found.group is None and found.module.package else "no module"
        raise RequestError(
            "invalid_arguments",
            f"{to} is {what}; {extent.address} can be merged into a module alone.",
            hints=[f"Name a module, such as {found.module.name}."],
        )
    if extent.module is not None and found.module.path == extent.module.path:
        raise RequestError(
            "invalid_arguments", f"{extent.address} cannot be merged into itself.", hints=["Name another module."]
        )
    return found


def _stubs(workspace: Workspace, extent: Extent, to: ModuleFile) -> tuple[list[Spliced], list[Notice]]:
    """Return the splices that take a stub's declarations into the stub of the other module, and notices about it."""
    if len(extent.files) < 2:
        return [], []
    try:
        stubs = [resolve(workspace, f"{name}@stub") for name in (extent.name, to.name)]
    except (LookupFailed, SourceError):
        return [], [Notice("stub_gone", f"{extent.name}@stub was deleted: {to.name} has no stub.")]
    origin, target = stubs
    parts = apart(origin.tree.text)
    splices = _put(workspace, target.module, target.tree, parts, Position.LAST, ())
    return [Spliced(module=target.module, splices=splices, targets=(Span(0, len(target.tree.text)),))], []


def _check_captured(project: Project, origin: ModuleFile, to: ModuleFile) -> None:
    """Check that neither module takes a builtin for which the other one has a name."""
    for module, other in ((origin, to), (to, origin)):
        mentions = project.uses(module.path).mentions
        for name in project.uses(other.path).scopes[0].names:
            plain = (each for each in mentions.get(name, ()) if each[4] == u.PLAIN and each[3] not in _NO_NAME)
            free = (each for each in plain if project.names.scope_of(module.path, each[2], name) is None)
            if name not in _OF_MODULE and (found := next(free, None)) is not None:
                raise Refused(
                    "name_collision",
                    f"{name} in {module.name}:{found[0]} would mean another thing, since {other.name} gives that name"
                    " to something else",
                    unchanged=True,
                    hints=[f"rename {other.name}.{name} NAME gives it another name first."],
                )


def _with_bare_names(workspace: Workspace, origin: Resolved, to: ModuleFile) -> Workspace:
    """Return the project in which the module uses names of the other one without dots, as that does itself."""
    project, module, tree = project_of(workspace), origin.module, origin.tree
    uses, meant = project.uses(module.path), frozenset[Meaning]({InModule(to.path)})
    splices: list[tuple[Span, str]] = []
    for name in project.uses(to.path).scopes[0].names:
        for mention in uses.mentions.get(name, ()):
            is_attribute = mention.receiver > 0 and mention.kind not in (*_NO_NAME, u.KEYWORD)
            if is_attribute and project.inference.values(module.path, mention.receiver) == meant:
                start = tree.source.lines.offset(*mention[:2])
                chain = _CHAIN.search(tree.text, 0, start)
                splices += [(Span(chain.start(1), start), "")] if chain is not None else []
    return workspace.after(ChangeSet((workspace.change(module, splices),))) if splices else workspace


class Merge:
    """A module on its way into another one.

    Parameters:
        origin: the module that goes.
        target: the module that takes all it defines.
    """

    def __init__(self, workspace: Workspace, origin: Resolved, target: Resolved) -> None:
        self.workspace = workspace
        self.project: Project = project_of(workspace)
        self.origin, self.to = origin.module, target.module
        self.tree, self.target = origin.tree, target.tree
        self.uses, self.there = self.project.uses(self.origin.path), self.project.uses(self.to.path)
        self.names = self._names()
        self.notices: list[Notice] = []
        self.contents: dict[str, bytes] = {}

    def _names(self) -> tuple[str, ...]:
        """Return the names that the module gives by other statements than its imports."""
        imported = {each.start for each in self.tree.outline.imports if each.top or each.typing_only}
        by_import = {each.name for each in self.tree.outline.imports if each.start in imported}
        scope = self.uses.scopes[0].names
        own = (name for name in scope if name not in by_import or any(each[0] != u.IMPORTED for each in scope[name]))
        return tuple(name for name in own if name != "__all__")

    def result(self) -> tuple[tuple[Spliced, ...], Report]:
        """Return the changes.

        Raises:
            Refused: as `plan_merge`.
        """
        # app/new.py: def f(): ...        app/old.py: from app.new import f        app/user.py: from app.old import g
        #                                             def g(): return f()
        #   others    app/user.py: from app.new import g, by the move of the module's name
        #   own       app/old.py without `from app.new import f`, which `_drop` takes out
        #   parts     `def g(): return f()`, and the imports that it needs still: none
        #   here      splices that put `g` at the end of app/new.py
        self._check_readable()
        self._check_movable()
        same = frozenset(self._check_free())
        public = tuple(name for name in self.names if self.tree.outline.lets_out(name))
        paths = {self.origin.path: self.to.path}
        move = ModuleMove(self.project, self.origin.name, self.to.name, paths, self.origin.path, public)
        self.sought = move.sought
        found = move.moved()
        contents = dict(found.contents)
        text = contents.pop(self.origin.path, self.tree.source.content)
        own = self.workspace.kept.trees.get(text)
        revision = Revision(own.text)
        self._drop(revision)
        parts = apart(revision.text, same)
        self._tell()
        self.contents = contents
        mentions = list(self._mentions())
        here = self._into(parts, mentions)
        others = tuple(each for each in found.spliced if each.module.path != self.to.path)
        changed = {**found.report.changed, self.to.name: len(self.names)}
        report = replace(found.report, changed=changed)
        whole = Span(0, len(self.target.text))
        return (*others, Spliced(module=self.to, splices=tuple(here), targets=(whole,))), report

    def _check_readable(self) -> None:
        if self.tree.newer or self.target.newer:
            raise Refused(
                "unsafe_change",
                f"{self.origin.name} or {self.to.name} is newer than the Python that runs here",
                unchanged=True,
                hints=["Run this with a newer Python, or move definitions by their names."],
            )

    def _check_movable(self) -> None:
        """Check that each statement can stand in another module."""
        if blocked := apart(self.tree.text).blocked:
            raise Refused(
                "unsafe_change",
                f"{self.origin.name} cannot be merged into {self.to.name}: {blocked}.",
                unchanged=True,
                hints=[f"Take that out of {self.origin.name} first, or move its definitions by their names."],
            )

    def _check_free(self) -> Iterator[str]:
        """Yield the names of both modules that are assigned the same in both; refuse others."""
        taken: list[str] = []
        moved = {Symbol(self.origin.path, 0, name) for name in self.names}
        for name in self.names:
            others = [
                each
                for each in self.there.scopes[0].names.get(name, ())
                if each[0] != u.IMPORTED or not self.project.names.imported(self.to.path, each[1]) <= moved
            ]
            value = _assigned(self.tree.text, name)
            if others and value is not None and value == _assigned(self.target.text, name):
                yield name
            elif others:
                taken.append(name)
        if taken:
            verb = "are names" if len(taken) > 1 else "is a name"
            raise Refused(
                "name_collision",
                f"{listed(taken)} {verb} of {self.origin.name} and of {self.to.name}",
                unchanged=True,
                hints=[f"rename {self.origin.name}.{taken[0]} NAME gives one of them another name first."],
                candidates=[f"{module.name}.{taken[0]}" for module in (self.origin, self.to)],
            )

    def _tell(self) -> None:
        """Note names that mean another thing afterwards, and a docstring that is lost."""
        mentions = self.uses.mentions
        used = sorted(name for name in _OF_MODULE if any(each[4] == u.PLAIN for each in mentions.get(name, ())))
        if used:
            message = f"{listed(used)} means {self.to.name} in what is merged now."
            self.notices.append(Notice("module_names", message))
        if ast.get_docstring(ast.parse(self.tree.text)):
            self.notices.append(Notice("docstring_gone", f"The docstring of {self.origin.name} went with its file."))

    def _mentions(self) -> Iterator[tuple[str, Mentioned]]:
        """Yield the mentions of the moved names in the module that takes them."""
        for name in self.names:
            sought = sought_of(self.origin, name)
            for path, found in search_code(self.project, sought, lambda _: Mentioning((self.to.path,))).files:
                yield from ((name, each) for each in found if path == self.to.path)

    def _into(self, parts: Apart, mentions: Sequence[tuple[str, Mentioned]]) -> Sequence[tuple[Span, str]]:
        """Return the splices that put all into the other module, which imports none of it any more."""
        names = {name: name for name in self.names}
        retargeting = Retargeting(self.project, self.target, self.to, self.origin, self.to, names)
        revision = Revision(self.target.text)
        revision.apply(retargeting.changed(mentions, ()).splices)
        self._check_no_value(revision.text)
        remove_imported(revision, self._is_of_origin)
        revision = Revision(self.target.text) if revision.text == self.target.text else revision
        now = self.workspace.kept.trees.get(self.target.source.encode(revision.text))
        exported = set(self.tree.outline.exported or ())
        listing = Revision(now.text)
        for name in self.names:
            if name in exported:
                splices, _ = put_in_all(view_of(listing.text), name)
                listing.apply(splices)
        place = self._place(mentions)
        revision.apply(_put(self.workspace, self.to, now, parts, place, listing.splices()))
        return revision.splices()

    def _check_no_value(self, text: str) -> None:
        """Check that the other module does not use the one that goes as a value, since it would be itself."""
        nodes = list(ast.walk(ast.parse(text)))
        imports = (each for each in nodes if isinstance(each, (ast.Import, ast.ImportFrom)))
        given = {a.asname or a.name for node in imports for a in node.names if self._is_of_origin(node, a)}
        used = next((each for each in nodes if isinstance(each, ast.Name) and each.id in given), None)
        if used is not None:
            raise Refused(
                "unsafe_change",
                f"{self.to.name} uses {self.origin.name} as a value, by the name {used.id}",
                unchanged=True,
                hints=[f"Edit {self.to.name} so that it takes from {self.origin.name} what it needs, then repeat it."],
            )

    def _is_of_origin(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
        """Return whether an import of the other module gives the one that goes."""
        return self._gives(self.to, self.origin, node, alias)

    def _gives(
        self, module: ModuleFile, meant: ModuleFile, node: ast.Import | ast.ImportFrom, alias: ast.alias
    ) -> bool:
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        base = f"{node.module or ''}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        return meant.path in self.project.names.files(module.path, base.strip("."), level)

    def _place(self, mentions: Sequence[tuple[str, Mentioned]]) -> Position:
        """Return the place in the other module: the beginning if that uses something as it loads, else the end."""
        plain = (each.mention for _, each in mentions if each.mention.kind in _AS_IT_LOADS)
        used = {self.target.source.lines.offset(*each[:2]): "" for each in plain}
        if inside_functions(self.target.text, used, "") is not None:
            return Position.LAST
        if any(self.to.path in self.project.names.files(self.origin.path, *each) for each in self._taken()):
            raise Refused(
                "unsafe_change",
                f"{self.to.name} uses {self.origin.name} as it loads, which imports it",
                unchanged=True,
                hints=["Move what both of them need by its name first."],
            )
        return Position.FIRST

    def _taken(self) -> Iterator[tuple[str, int]]:
        yield from ((each.module, each.level) for each in self.uses.imports)

    def _drop(self, revision: Revision) -> None:
        """Take out the imports of the other module that are needed no more in what goes there."""
        path = self.to.path

        def is_gone(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
            names, level = self.project.names, node.level if isinstance(node, ast.ImportFrom) else 0
            if isinstance(node, ast.ImportFrom) and path in names.files(path, node.module or "", level):
                return alias.asname in (None, alias.name)
            root = alias.asname or alias.name.partition(".")[0]
            used = re.search(rf"(?<![\w.]){re.escape(root)}\s*\.", revision.text.replace(f"import {alias.name}", ""))
            return self._gives(self.to, self.to, node, alias) and used is None

        remove_imported(revision, is_gone)


def _put(
    workspace: Workspace,
    module: ModuleFile,
    tree: Tree,
    parts: Apart,
    place: Position,
    listed_names: Sequence[tuple[Span, str]],
) -> tuple[tuple[Span, str], ...]:
    """Return the splices that put the statements of a module into another, with the imports that they need."""
    inserted = insert(tree, (), place, f"{parts.rest}\n").splices if parts.rest else ()
    both = [*inserted, *listed_names]
    if not parts.imports:
        return tuple(both)
    return added_imports(workspace, module, tree, both, parts.imports).splices


def _assigned(text: str, name: str) -> str | None:
    """Return the value of a name that one assignment gives; None for other names."""
    found: list[str] = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and any(isinstance(e, ast.Name) and e.id == name for e in node.targets):
            found.append(ast.unparse(node) if len(node.targets) == 1 else "")
    return found[0] if len(found) == 1 and found[0] else None
