"""Add imports to a module, or take them out, by themselves.

imports_add("app.core", ["from a import b"])       added where it runs before all that needs it; else into a statement
imports_remove("app.core", ["b"])                  every byte as before
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from textwrap import indent
from typing import Annotated, ClassVar

from msgspec import structs

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, SourceError
from bae_source.model.call import call_of
from bae_source.model.closest import closest
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.request import Effect, Request, described
from bae_source.model.text import listed
from bae_source.project.files.layout import import_name
from bae_source.project.importing.graph import ImportGraph
from bae_source.project.importing.order import circle
from bae_source.project.importing.plan import with_imports
from bae_source.project.importing.unread import Users, users_of_import
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.naming.spans import span_of
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.meaning.sought import is_within, scopes_inside
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import Spliced, import_in_use, planned, planned_files
from bae_source.syntax.importing.adding import IMPORTS_ADDED
from bae_source.syntax.importing.meaning import Place
from bae_source.syntax.importing.purposes import ImportedName, imported_names
from bae_source.syntax.importing.removing import without_names
from bae_source.syntax.importing.wanted import Import, wanted
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import Kind
from bae_source.syntax.rewrite.place import Position, insert

_MOST_SHOWN = 10


class ImportsAdd(Request, frozen=True, kw_only=True):
    """Add import statements to a module where they are missing.

    A name goes into a statement that imports from the same module, and a new statement where the order of the others
    says, before all that needs it. What is there already stays as it is.
    """

    verb: ClassVar[str] = "imports_add"
    family: ClassVar[str] = "imports"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it to import something where code is to use it; edits take imports along by themselves."
    examples: ClassVar[tuple[str, ...]] = (
        'imports add app.core "from app.net import Client"',
        'imports add app.core "import json" --deferred send',
        'imports add app.core "from a import B" --type-checking',
    )
    idempotent: ClassVar[bool] = True

    target: Annotated[str, described("Dotted name of the module.", min_length=1)]
    statements: Annotated[
        tuple[str, ...],
        described(
            "The import statements, one or several in each text.", placed=True, metavar="STATEMENT", min_length=1
        ),
    ]
    deferred: Annotated[
        str | None,
        described("The function of the module that imports them when it is called, as where a circle forbids the top."),
    ] = None
    type_checking: Annotated[bool, described("Put them below `if TYPE_CHECKING`, for annotations alone.")] = False

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for what is no import, or `deferred` with `type_checking`.
            Refused: `name_collision` if the module, or the function, binds a name to something else; `unsafe_change` if
                it would make a circular import, or there is no place.
        """
        given = [each for statement in self.statements for each in wanted(statement)[0]]
        if self.deferred is not None and (self.type_checking or any(each.typing for each in given)):
            raise RequestError(
                "invalid_arguments",
                "deferred and type_checking exclude each other: what type checkers alone read never runs.",
                hints=["Leave one of them out."],
            )
        resolved = resolve(workspace, self.target)
        if resolved.group is not None or resolved.address.part is not None:
            raise _no_module(resolved)
        if self.deferred is not None:
            return self._plan_deferred(workspace, resolved, self.deferred)
        statements = self.statements
        if self.type_checking:
            statements = tuple(_for_checkers(each) for each in statements)
        splices, notices = with_imports(workspace, resolved, (), statements)
        plan = planned(
            workspace,
            resolved,
            splices,
            summary=f"Added imports to {resolved.address}.",
            warnings=[each for each in notices if each.code != IMPORTS_ADDED],
        )
        if not plan.changes:
            return structs.replace(plan, summary=f"{resolved.address} has these imports already.")
        if not self.type_checking:
            self._check_circle(workspace, resolved.module, plan, [each.node for each in given if not each.typing])
        added = next((each.message for each in notices if each.code == IMPORTS_ADDED), plan.summary)
        return structs.replace(plan, summary=added)

    def _check_circle(self, workspace: Workspace, module: ModuleFile, plan: Plan, nodes: Sequence[Import]) -> None:
        """Check that the new imports run into no module that has not got as far as it has to.

        Raises:
            Refused: `unsafe_change`.
        """
        after, graph = workspace.after(plan.changes), ImportGraph(workspace, workspace.census)
        for path in dict.fromkeys(path for node in nodes for path in _run_by(graph, module.path, node)):
            imported = workspace.census.module(path)
            story = circle(workspace, after, module, imported) if imported is not None else None
            if story is not None:
                call = call_of(structs.replace(self, deferred="FUNCTION"))
                raise Refused(
                    "unsafe_change",
                    f"The import would make a circular import: {story}",
                    unchanged=True,
                    hints=[call.and_then("imports it when the function that needs it is called.")],
                )

    def _plan_deferred(self, workspace: Workspace, resolved: Resolved, name: str) -> Plan:
        """Plan to add imports inside a function."""
        home = str(resolved.address.whole)
        inner = name if name.startswith(f"{home}.") else f"{home}.{name}"
        function = resolve(workspace, inner)
        tree, group = function.tree, function.group
        found = [tree.outline.definitions[each] for each in group.members] if group is not None else []
        if len(found) != 1 or found[0].kind is not Kind.FUNCTION or function.module.path != resolved.module.path:
            raise Refused(
                "unsafe_change",
                f"{function.address} is no function of {home} that could import something.",
                hints=[f"Give deferred the name of one function or method in {home}."],
            )
        assert group is not None
        span = span_of(function)
        lines = tree.source.lines
        first, last = lines.number(span.start), lines.number(span.end - 1)
        inside = (each for each in imported_names(tree.text) if not each.top and first <= each.line <= last)
        place = Place(module=import_name(function.module), package=function.module.package)
        there = {(each.shown, _thing(place, each)) for each in inside}
        new: list[ImportedName] = []
        missing: list[str] = []
        for statement in self.statements:
            names = imported_names(statement)
            lacking = [each for each in names if (each.shown, _thing(place, each)) not in there]
            new += lacking
            missing += [statement] if lacking or not names else []
        if not missing:
            return planned(workspace, function, (), summary=f"{function.address} has these imports already.")
        _check_free(workspace, function, place, new)
        try:
            insertion = insert(tree, group.members, Position.FIRST, "\n".join(missing), lift_imports=False)
        except Refused as error:  # it names a position, which there is none of here
            again = f"Edit {function.address} so that its suite begins on a line of its own, then repeat it."
            raise Refused(error.code, error.message, hints=[again]) from None
        return planned(
            workspace, function, insertion.splices, summary=f"Added to {function.address}: {'; '.join(missing)}."
        )


class ImportsRemove(Request, frozen=True, kw_only=True):
    """Take imported names out of a module, or of a function, and statements that import nothing more with them.

    The comment lines above an import go with it, if they mention it alone; those of what stays, stay. A suite that
    would be empty gets `pass`.
    """

    verb: ClassVar[str] = "imports_remove"
    family: ClassVar[str] = "imports"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it for imports that `imports organise` leaves as unsure, or that an edit made needless."
    examples: ClassVar[tuple[str, ...]] = (
        "imports remove app.core json Client",
        "imports remove app.core app.signals",
    )
    idempotent: ClassVar[bool] = True

    target: Annotated[str, described("Dotted name of the module, or of a function that imports.", min_length=1)]
    names: Annotated[
        tuple[str, ...],
        described("Names that imports bind, or `a.b` of `import a.b`.", placed=True, metavar="NAME", min_length=1),
    ]
    force: Annotated[bool, described("Take them out though they are still used; what uses them is named.")] = False

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            LookupFailed: `symbol_not_found` for a name that no import binds.
            Refused: `unsafe_change` for one that is still used.
        """
        resolved = resolve(workspace, self.target)
        if resolved.address.part is not None:
            raise _no_module(resolved)
        module = resolved.module
        try:
            found = imported_names(resolved.tree.text)
        except (SyntaxError, RecursionError, MemoryError):
            raise SourceError(
                "not_lossless",
                f"{module.name} is too new or too deep for the Python that runs here, so its imports are not known.",
                hints=["Change its imports with edit."],
            ) from None
        going = self._going(resolved, found)
        notices = list(self._checked(workspace, resolved, going, found))
        splices = tuple(without_names(resolved.tree.text, going))
        names = ", ".join(dict.fromkeys(each.shown for each in going))
        plan = planned_files(
            workspace,
            spliced=[Spliced(module=module, splices=splices, targets=tuple(span for span, _ in splices))],
            changed=(str(resolved.address),),
            summary=f"{resolved.address} no longer imports {names}.",
            warnings=notices,
        )
        unused = tuple(f"{module.name}.{each.name}" for each in going if each.top and _is_last(each, going, found))
        return structs.replace(plan, unused=() if self.force else unused)

    def _going(self, resolved: Resolved, found: Sequence[ImportedName]) -> list[ImportedName]:
        """Return the imports of the names, the ones of the module itself before those in functions.

        Raises:
            LookupFailed: `symbol_not_found` if no import binds one of them.
        """
        if resolved.group is not None:
            lines, span = resolved.tree.source.lines, span_of(resolved)
            first, last = lines.number(span.start), lines.number(span.end - 1)
            found = [each for each in found if first <= each.line <= last]
        going: dict[ImportedName, None] = {}
        missing: list[str] = []
        for name in dict.fromkeys(self.names):
            named = [each for each in found if name in (each.name, each.shown)]
            going.update(dict.fromkeys([each for each in named if each.top] or named))
            if not named:
                missing.append(name)
        if missing:
            there = list(dict.fromkeys(each.shown for each in found))
            near = [match for name in missing for match in closest(name, there, n=3, cutoff=0.5)]
            raise LookupFailed(
                "symbol_not_found",
                f"No import of {resolved.address} binds {', '.join(missing)}.",
                hints=["Names are those that the imports bind: `np` of `import numpy as np`."],
                candidates=list(dict.fromkeys((*near, *there)))[:_MOST_SHOWN],
            )
        return list(going)

    def _checked(
        self, workspace: Workspace, resolved: Resolved, going: Sequence[ImportedName], found: Sequence[ImportedName]
    ) -> Iterator[Notice]:
        """Yield notices about possible users of the names; refuse sure ones, unless the names go all the same.

        Raises:
            Refused: `unsafe_change`.
        """
        if workspace.lets_used_go or workspace.lets_broken_in:
            return  # a later change may take the users away
        used: dict[str, Users] = {}
        for each in going:
            is_last = _is_last(each, going, found)
            if is_last or each.shown != each.name:
                try:
                    used[each.shown] = users_of_import(workspace, resolved.module, each, is_last=is_last)
                except ResourceError as error:
                    yield Notice("not_searched", f"Whether {each.shown} is used is not known: {error.message}")
        if self.force:
            for name, users in used.items():
                if users.tests:  # what code uses is warned of wherever something goes
                    tests = listed(users.tests, _MOST_SHOWN)
                    yield Notice("still_used", f"Tests still use {resolved.module.name}.{name}: {tests}.")
            return
        sure = {name: users.sure for name, users in used.items() if users.sure}
        if sure:
            places = listed((place for found in sure.values() for place in found), _MOST_SHOWN)
            raise import_in_use(str(resolved.address), list(sure), places)
        for name, users in used.items():
            if users.unsure:
                places = listed(users.unsure, _MOST_SHOWN)
                yield Notice("perhaps_used", f"{resolved.module.name}.{name} may still be used: {places}.")
        for why in dict.fromkeys(users.why for users in used.values() if users.why):
            named = listed(name for name, users in used.items() if users.why == why)
            yield Notice("perhaps_used", f"{named} of {resolved.address} may still be needed: {why}.")


def _no_module(resolved: Resolved) -> Refused:
    return Refused(
        "unsafe_change",
        f"{resolved.address} is no module, and imports are those of a module.",
        hints=[f"Name the module: {resolved.module.name}."],
    )


def _for_checkers(statement: str) -> str:
    """Return statements below `if TYPE_CHECKING`, unless they stand there."""
    given, _ = wanted(statement)
    return (
        statement if any(each.typing for each in given) else f"if TYPE_CHECKING:\n{indent(statement.strip(), '    ')}"
    )


def _thing(place: Place, each: ImportedName | u.Imported) -> str:
    """Return the dotted name of an import's target, however it is spelled."""
    if each.attribute:
        return f"{place.absolute(each.module, each.level)}.{each.attribute}"
    return each.module if isinstance(each, u.Imported) or each.asname else each.name


def _check_free(workspace: Workspace, function: Resolved, place: Place, new: Iterable[ImportedName]) -> None:
    """Check that names are not bound in a function, and that it reads none of them as what another scope binds.

    Raises:
        Refused: `name_collision`.
    """
    project, path = project_of(workspace), function.module.path
    uses = project.uses(path)
    own = scopes_inside(uses.scopes, function.address.qualname)[0]
    for each in new:
        read = (
            project.names.scope_of(path, mention.scope, each.name)
            for mention in uses.mentions.get(each.name, ())
            if mention.receiver == u.PLAIN and is_within(uses.scopes, mention.scope, own)
        )
        for scope in {own, *(found for found in read if found is not None and not is_within(uses.scopes, found, own))}:
            bound = uses.scopes[scope].names.get(each.name, ())
            things = {_thing(place, uses.imports[number]) if how == u.IMPORTED else "" for how, number, *_ in bound}
            if things - {_thing(place, each)}:
                does = "binds" if scope == own else "uses another"
                raise Refused(
                    "name_collision",
                    f"The import of {each.shown} collides: {function.address} {does} {each.name}.",
                    unchanged=True,
                    hints=["Import it under another name: … as …"],
                )


def _is_last(each: ImportedName, going: Sequence[ImportedName], found: Sequence[ImportedName]) -> bool:
    """Return whether no import of a name stays beside it in the module itself, or among functions."""
    return not any(other.name == each.name and other.top == each.top and other not in going for other in found)


def _run_by(graph: ImportGraph, path: str, node: Import) -> Iterator[str]:
    """Yield the files that an import statement makes run."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield from graph.run_by(path, node.module or "", alias.name, node.level)
        else:
            yield from graph.run_by(path, alias.name, None, 0)
