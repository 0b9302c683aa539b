"""Names that a change takes away and the project still uses: reported with the change, and not mended.

    delete m.a.f        m.b:1: from m.a import f        m.a:6: return f()        m.c:4: a.f()

Every change is looked at, whatever its verb: its files are compared before and after by the names that they bind.
Modules that go as a whole are for `left_behind`.

Invariants:
- a change that takes no name away costs the comparison of two outlines;
- a name that the module still binds or takes from elsewhere, or that a module of a package stands for, is not gone;
- the work is bounded, and what was not read is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import ResourceError, SourceError
from bae_source.model.changeset import ChangeSet, between
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.text import listed
from bae_source.project.files.unseen import name_at
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import import_in_use, still_in_use
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import Kind, Outline
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.altered import by_path

if TYPE_CHECKING:
    from bae_source.model.reference import Reference
    from bae_source.project.files.layout import Layout

_MOST_NAMES = 20
"""Names that are searched for in all ways; of others the import statements are found."""
_MOST_FILES = 200
"""Files with a name in them, beyond which only its import statements are found."""
_MOST_SHOWN = 10
_ALONE = frozenset({u.READ, u.CALL, u.BASE, u.DECORATOR, u.ANNOTATION, u.DELETE})
"""Kinds of mentions by which code takes a name from around it."""


class _Taken(Struct, frozen=True, kw_only=True):
    """The names that a change takes from one module.

    Parameters:
        module: as it is before the change.
        defined: paths of names; those inside a class or function that goes as well are left out.
        imported: names that came by import statements.
        after: the module afterwards.
    """

    module: ModuleFile
    defined: tuple[tuple[str, ...], ...]
    imported: tuple[str, ...]
    after: Tree


_Place = tuple[str, int]
"""A module, and a line as it is after the change."""


class _Found(Struct, kw_only=True):
    """Users of one name that goes.

    Parameters:
        statements: import statements that take it from its module.
    """

    statements: list[_Place] = []
    sure: list[_Place] = []
    unsure: list[_Place] = []
    strings: list[_Place] = []


def with_users(workspace: Workspace, plan: Plan, *, to_import: bool = False) -> Plan:
    """Return a plan with the warnings about users of the names that it takes away.

    Parameters:
        workspace: the project as it is before the change.
        to_import: whether the importers of what goes have to be imported for the change to be verified.
    """
    notices: list[Notice] = []
    users: dict[str, None] = {}
    for taken in _taken(workspace, plan.changes):
        search = _Search(_but_for(workspace, plan.changes, taken.module.path), taken)
        notices += search.run()
        users |= search.users if to_import else {}
    if to_import:
        users |= _may_break(workspace, plan.changes)
    changed = {file.path for file in plan.changes.files}
    modules = (workspace.layout.module_at(path) for path in sorted(users) if path not in changed)
    return replace(
        plan,
        warnings=tuple(dict.fromkeys((*plan.warnings, *notices))),
        users=tuple(workspace.module_file(module) for module in modules if module),
    )


def _may_break(workspace: Workspace, changes: ChangeSet) -> dict[str, None]:
    """Return the files of modules that may not import by a change, those that only run what goes left out."""
    from bae_source.project.importing.breakable import breakable  # the graph of imports, for this alone

    found = breakable(workspace, changes)
    if any(file.after is None and file.path.endswith(".py") for file in changes.files):
        from bae_source.refactoring.planning.left_behind import (
            importers_left,  # names across files, for modules that go
        )

        found += importers_left(workspace.after(changes), modules_gone(workspace, changes))
    modules = ((path, workspace.layout.module_at(path)) for path in found)
    return dict.fromkeys(path for path, module in modules if module and workspace.module_file(module).import_checked)


def check_unused(before: Workspace, last: Workspace, plan: Plan) -> None:
    """Check that nothing surely uses what a plan takes away and must be unused, as the project is in the end.

    Parameters:
        before: the project as the plan found it.
        last: the project as this plan and those after it leave it.

    Raises:
        Refused: `unsafe_change`, with what uses it.
    """
    for address in plan.unused:
        if places := _used_at_last(before, last, plan, address):
            module, _, name = address.rpartition(".")
            if _is_import(before, plan, module, name):
                raise import_in_use(module, [name], places)
            raise still_in_use(address, places)


def _used_at_last(before: Workspace, last: Workspace, plan: Plan, address: str) -> str:
    parts = tuple(address.split("."))
    if any(found.length == len(parts) for found in before.layout.prefixes(parts)):
        from bae_source.refactoring.planning.left_behind import (  # names across files, for modules that go
            importing,
            left_at_last,
        )

        return importing(left_at_last(last, address))
    for module in plan.modules:
        if address.startswith(f"{module.name}.") and (content := last.content(module.path)) is not None:
            path = tuple(re.sub(r"\[.*?\]|@.*", "", address.removeprefix(f"{module.name}.")).split("."))
            try:
                after = last.tree(module)
            except SourceError:
                continue  # which is an error of its own
            if path in by_path(after.outline) or path in {(each.name,) for each in after.outline.imports}:
                continue
            back = between({module.path: content}, {module.path: before.content(module.path)})
            is_import = len(path) == 1 and _is_import(before, plan, module.name, path[0])
            defined, imported = ((), path) if is_import else ((path,), ())
            taken = _Taken(module=module, defined=defined, imported=imported, after=after)
            with_it = last.after(back)
            found = _Search(with_it, taken).found()
            places = [place for each in found.values() for place in (*each.statements, *each.sure)]
            return _listed([*places, *(_takers(with_it, module, path[0]) if is_import else ())])
    return ""


def _takers(workspace: Workspace, module: ModuleFile, name: str) -> list[_Place]:
    """Return the places of other modules that take a name which a module imports."""
    from bae_source.project.importing.unread import takers_of_import  # names across files

    return takers_of_import(workspace, module, name)


def _is_import(before: Workspace, plan: Plan, module: str, name: str) -> bool:
    """Return whether a module of a plan only imported a name."""
    for each in plan.modules:
        if each.name == module and before.content(each.path) is not None:
            outline = before.tree(each).outline
            return (name,) not in by_path(outline) and any(one.name == name for one in outline.imports)
    return False


def _taken(workspace: Workspace, changes: ChangeSet) -> Iterator[_Taken]:
    """Yield the modules that lose names; those that go as a whole, stubs, and what does not parse are passed over."""
    for file in changes.files:
        module = workspace.layout.module_at(file.path) if file.path.endswith(".py") else None
        if module is None or file.before is None or file.after is None:
            continue
        try:
            before = workspace.tree(module)
            after = workspace.kept.trees.get(file.apply(before.source.content), file.after)
        except ResourceError:
            continue
        if _binds_the_same(before.outline, after.outline):
            continue
        defined, imported = _lost(before.outline, after.outline)
        if defined or imported:
            yield _Taken(module=module, defined=tuple(defined), imported=tuple(imported), after=after)


def _binds_the_same(before: Outline, after: Outline) -> bool:
    """Return whether two states of a module bind the same names in the same order, which nearly every change does."""
    shapes = ([(each.parent, each.names) for each in outline.definitions] for outline in (before, after))
    imports = ([each.name for each in outline.imports] for outline in (before, after))
    return next(shapes) == next(shapes) and next(imports) == next(imports)


def _lost(before: Outline, after: Outline) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the names that a module bound and binds no longer: paths of definitions, and imported names."""
    inside = {before.qualname(index) for index, each in enumerate(before.definitions) if each.kind is Kind.FUNCTION}
    still = by_path(after).keys() | {(each.name,) for each in after.imports}
    gone = [path for path in by_path(before) if path not in still]
    inner = {*gone, *inside}  # what goes with what is around it, and the local names of functions
    outermost = [path for path in gone if not any(path[:end] in inner for end in range(1, len(path)))]
    named = {path[0] for path in gone if len(path) == 1}
    imported = dict.fromkeys(each.name for each in before.imports if each.name != "*")
    return outermost, [name for name in imported if (name,) not in still and name not in named]


def modules_gone(workspace: Workspace, changes: ChangeSet) -> list[str]:
    """Return the modules and packages whose names go with a change, the outermost of those that go together."""
    later = workspace.after(changes).layout
    files = (file.path for file in changes.files if file.after is None and file.path.endswith(".py"))
    names = {module.name for path in files if (module := workspace.layout.module_at(path))}
    gone = {name for name in names if not _is_there(later, tuple(name.split(".")))}
    return sorted(name for name in gone if name.rpartition(".")[0] not in gone)


def _is_there(layout: Layout, parts: tuple[str, ...]) -> bool:
    return any(each.length == len(parts) for each in layout.prefixes(parts))


def _but_for(workspace: Workspace, changes: ChangeSet, path: str) -> Workspace:
    """Return the project after a change, with one file as it is before."""
    others = tuple(file for file in changes.files if file.path != path)
    return (
        workspace.after(ChangeSet(others)) if any(file.path.endswith((".py", ".pyi")) for file in others) else workspace
    )


class _Search:
    """A search for the users of names that a module loses.

    Parameters:
        workspace: the project after the change, and the module as it is before.
        taken: the names.
    """

    def __init__(self, workspace: Workspace, taken: _Taken) -> None:
        from bae_source.project.references.meaning.project import (
            project_of,  # names across files, which most changes need not
        )
        from bae_source.syntax.names.reading import uses_of

        self.workspace = workspace
        self.project = project_of(workspace)
        self.users: dict[str, None] = {}
        """The files that have to be imported to see that what uses the names still can be."""
        self._taken = taken
        self._module = taken.module
        self._own = uses_of(taken.after.source)
        self._unread: list[str] = []

    def run(self) -> list[Notice]:
        """Return the notices."""
        found = self.found()
        unread = listed(self._unread, _MOST_SHOWN)
        text = f"Not searched, so more may still be used: {unread}; ask references before the change."
        return [*_warnings(self._module, found), *([Notice("not_searched", text)] if unread else [])]

    def found(self) -> dict[str, _Found]:
        """Return the users of each name."""
        with self.workspace.index.expecting():
            top = [path[0] for path in self._taken.defined if len(path) == 1]
            there = {name: self._is_there(name) for name in (*top, *self._taken.imported)}
            found = self._importers([name for name, verdict in there.items() if not verdict])
            for name, each in found.items():
                each.sure += self._left_alone(name)
            paths = [path for path in self._taken.defined if len(path) > 1 or path[0] in found]
            for path in paths[:_MOST_NAMES]:
                self._referring(path, found.setdefault(".".join(path), _Found()))
            self._unread += [self._address(path) for path in paths[_MOST_NAMES:]]
        for name in (name for name, verdict in there.items() if verdict is None):
            each = found[name]
            found[name] = _Found(unsure=[*each.statements, *each.sure, *each.unsure], strings=each.strings)
        return found

    def _is_there(self, name: str) -> bool | None:
        """Return whether the module has a name all the same, or a module of that name stands for it; None if unsure."""
        from bae_source.project.references.meaning.provided import Provided

        path, project = self._module.path, self.project
        provided = Provided(
            self.workspace.census,
            lambda other: self._own if other == path else project.uses(other),
            self.workspace.files.names,
        )
        return provided.name(path, name)

    def _importers(self, names: Sequence[str]) -> dict[str, _Found]:
        """Return the importers of the module's names, by name."""
        from bae_source.project.importing.by_text import may_import

        found = {name: _Found() for name in names}
        if not names:
            return found
        mentioning = self.workspace.index.naming(names)
        self._unread += [self._name(path) for path, _ in mentioning.unreadable]
        searched = [path for path in mentioning.paths if may_import(self.workspace, path, names)]
        self.project.load(searched)
        for path in searched:
            try:
                imports = self.project.uses(path).imports if path != self._module.path else ()
            except ResourceError:
                self._unread.append(self._name(path))
                continue
            for each in imports:
                if each.attribute in found and self._module.path in self.project.names.files(
                    path, each.module, each.level
                ):
                    found[each.attribute].statements.append((self._name(path), each.line))
                    self.users[path] = None
        return found

    def _left_alone(self, name: str) -> Iterator[_Place]:
        """Yield the places of the module itself that take a name from its top level, which no longer has it."""
        from bae_source.project.references.meaning.meaning import Names

        own = self._own
        names = Names(self.workspace.census, lambda _: own)
        for line, _, scope, kind, receiver, _ in own.mentions.get(name, ()):
            if kind in _ALONE and receiver == u.PLAIN and names.scope_of(self._module.path, scope, name) is None:
                yield self._module.name, line

    def _referring(self, path: tuple[str, ...], found: _Found) -> None:
        """Add what refers to a definition: in other files, and to a member of a class on lines that stay."""
        from bae_source.project.naming.resolve import resolve
        from bae_source.project.references.search.references import references_to

        address, is_member = self._address(path), len(path) > 1
        around = self.workspace.index.naming([path[-1]]).paths
        if not any(is_member or each != self._module.path for each in around):
            return
        if len(around) > _MOST_FILES:
            self._unread.append(f"{address} ({len(around):,} files have a name like it)")
            return
        try:
            references = references_to(self.project, resolve(self.workspace, address))
        except ResourceError:
            self._unread.append(address)
            return
        self._unread += [self._name(each) for each, _ in references.unreadable]
        dotted = re.compile(rf"[.:]{re.escape(path[-1])}\b")
        for each in references.found:
            line = each.line
            if each.module == self._module.name:
                line = self._line(each.text) if is_member else 0
            if not line or each.kind == "export":
                continue
            place = each.module, line
            if each.certainty == "sure":
                found.sure.append(place)
                if each.kind == "import":  # by the line of the name itself
                    found.statements = [other for other in found.statements if other[0] != each.module]
                self._note_user(each)
            elif each.certainty == "unsure":
                found.unsure.append(place)
            elif dotted.search(each.text):
                found.strings.append(place)

    def _note_user(self, reference: Reference) -> None:
        """Note what has to be imported; a test that only uses the name as it runs is not."""
        for path in self.workspace.census.find(reference.module):
            module = self.workspace.census.module(path)
            if module and (reference.kind == "import" or module.import_checked):
                self.users[path] = None

    def _line(self, text: str) -> int:
        """Return the line of the module that a line is afterwards; 0 where it has gone."""
        lines = [line.strip() for line in self._taken.after.text.splitlines()]
        return lines.index(text) + 1 if text in lines else 0

    def _address(self, path: Sequence[str]) -> str:
        return ".".join((self._module.name, *path))

    def _name(self, path: str) -> str:
        return name_at(self.workspace.census, path)


def _warnings(module: ModuleFile, found: dict[str, _Found]) -> Iterator[Notice]:
    """Yield a warning for each name that is still used."""
    used = {name: each for name, each in found.items() if each != _Found()}
    for name, each in list(used.items())[:_MOST_SHOWN]:
        address = f"{module.name}.{name}"
        how = f"references {address} lists them before the change, or once it is undone"
        if sure := [*each.statements, *each.sure]:
            yield Notice("still_used", f"{address} is still used: {_listed(sure)}; {how}.")
        if each.unsure:
            yield Notice("perhaps_used", f"{address} may still be used: {_listed(each.unsure)}; {how}.")
        if each.strings:
            yield Notice("named_in_strings", f"{address} is still named in strings: {_listed(each.strings)}.")
    if more := [f"{module.name}.{name}" for name in list(used)[_MOST_SHOWN:]]:
        yield Notice("still_used", f"Still used as well: {listed(more, _MOST_SHOWN)}.")


def _listed(places: Sequence[_Place]) -> str:
    return listed((f"{module}:{line}" for module, line in sorted(set(places))), _MOST_SHOWN)
