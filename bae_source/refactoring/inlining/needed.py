"""Names that inlined code takes from around it: whether they mean the same where it goes, and imports that it needs.

    app.core:  LIMIT = BASE * 2           `BASE` is a name of app.core
    app.web:   if size > LIMIT: ...       gets `from app.core import BASE`, unless it binds BASE otherwise

Invariants:
- a name that an import would freeze, since its module binds it anew, is not imported.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.project.files.layout import import_name
from bae_source.project.references.meaning.project import Project
from bae_source.refactoring.moving.symbols import imported_again, imports_relatively, loads, reference
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.inlining.hazards import Hazard, Value, value_of
from bae_source.syntax.names import uses as u

_OF_MODULE = frozenset({"__name__", "__file__", "__package__", "__path__", "__spec__", "__doc__", "__loader__"})
_ANEW = "its module binds it several times"


class Needs(Struct, frozen=True):
    """Imports that code needs where it goes, or the reason why it cannot go there."""

    imports: tuple[str, ...] = ()
    hazard: Hazard | None = None


def needs_at(project: Project, home: tuple[str, int], place: tuple[str, int], names: Iterable[str]) -> Needs:
    """Return what names of inlined code need where it goes.

    Parameters:
        home: file and scope in which the names mean what they shall mean.
        place: file and scope in which they come to stand.
    """
    statements: list[str] = []
    for name in sorted(set(names)):
        if home[0] == place[0]:
            if project.names.scope_of(*home, name) != project.names.scope_of(*place, name):
                return Needs(hazard=Hazard(Reason.CAPTURED.of(name=name), True))
            continue
        needed = _needed(project, home, place, name)
        if isinstance(needed, Hazard):
            return Needs(hazard=needed)
        statements += [needed] if needed else []
    return Needs(imports=tuple(statements))


def _needed(project: Project, home: tuple[str, int], place: tuple[str, int], name: str) -> str | Hazard:
    """Return the import that a name needs in another file; nothing for none."""
    names, path = project.names, home[0]
    here, there = names.scope_of(*home, name), names.scope_of(*place, name)
    if here is None:
        is_known = hasattr(builtins, name) and not project.uses(path).stars
        is_free = there is None and not project.uses(place[0]).stars
        return "" if is_known and is_free else _captured(name) if there is not None else _cannot(name, "it is unclear")
    if here != 0:
        return _captured(name)
    if name in _OF_MODULE:
        return _cannot(name, "each module has its own")
    meant = names.named(path, 0, name)
    if there is not None:
        is_same = meant and meant == names.named(*place, name)
        return _part_of_package(project, path, place[0], name) if is_same else _captured(name)
    return _import_of(project, path, place, name)


def _part_of_package(project: Project, path: str, place: str, name: str) -> str | Hazard:
    """Return the import that loads what a module has of a package, where another has other parts of it."""
    tree_at = project.workspace.tree_at
    imports = (each for each in tree_at(path).outline.imports if each.name == name)
    missing = [each.module for each in imports if not loads(tree_at(place), each)]
    return _cannot(name, _ANEW) if len(missing) > 1 else f"import {missing[0]}" if missing else ""


def _import_of(project: Project, path: str, place: tuple[str, int], name: str) -> str | Hazard:
    """Return the statement by which the module of a place gets a name of a module."""
    bindings = [each for each in project.uses(path).scopes[0].names.get(name, ()) if each[0] != u.DECLARED]
    census = project.workspace.census
    module, to = census.module(path), census.module(place[0])
    if len(bindings) != 1 or module is None or to is None:
        return _cannot(name, _ANEW)
    relative = imports_relatively(project.workspace.tree(to))
    if bindings[0][0] != u.IMPORTED:
        own = import_name(module)
        return f"from {reference(own, to) if relative else own} import {name}"
    imports = [each for each in project.workspace.tree(module).outline.imports if each.name == name]
    if len(imports) != 1 or imports[0].module == "__future__":
        return _cannot(name, "its import cannot be repeated")
    is_evaluated = project.uses(place[0]).scopes[place[1]].kind != u.FUNCTION_SCOPE  # as annotations are there
    found = replace(imports[0], typing_only=imports[0].typing_only and not is_evaluated)
    return imported_again(found, module, to, relative=relative) or _cannot(name, "its import cannot be repeated")


def value_at(
    project: Project,
    code: Code,
    loops: Sequence[Span],
    place: tuple[str, int],
    node: ast.expr,
    constants: frozenset[str] = frozenset(),
) -> Value:
    """Return an expression with all that is known of it where it stands.

    Parameters:
        code: the code that it is part of.
        loops: first and last line of each loop of the file as the project has it.
        place: file and scope in which it stands.
        constants: as of `value_of`.
    """
    first = value_of(node, code.bound)
    return value_of(
        node,
        code.bound,
        _volatile(project, place, first.names),
        _unsteady(project, place, first.names, loops),
        constants,
    )


def _volatile(project: Project, place: tuple[str, int], names: Iterable[str]) -> frozenset[str]:
    """Return the names that code of other functions than the one of a scope may bind anew."""
    found: set[str] = set()
    path, scope = place
    scopes = project.uses(path).scopes
    for name in names:
        owner = project.names.scope_of(path, scope, name)
        if owner is None:
            continue
        several = len(_binding(scopes[owner], name)) > 1
        if several and (owner != scope or _is_taken_inside(scopes, name)):
            found.add(name)
    return frozenset(found)


def _unsteady(project: Project, place: tuple[str, int], names: Iterable[str], loops: Sequence[Span]) -> frozenset[str]:
    """Return the names that are bound more than once, or in a loop."""
    found: set[str] = set()
    path, scope = place
    scopes = project.uses(path).scopes
    for name in names:
        owner = project.names.scope_of(path, scope, name)
        bindings = _binding(scopes[owner], name) if owner is not None else []
        is_inner = owner is not None and scopes[owner].kind == u.INNER_SCOPE  # what a comprehension binds in each round
        is_in_loop = is_inner or any(loop.start <= each[3] <= loop.end for each in bindings for loop in loops)
        if len(bindings) > 1 or is_in_loop:
            found.add(name)
    return frozenset(found)


def _binding(scope: u.Scope, name: str) -> list[u.Binding]:
    return [each for each in scope.names.get(name, ()) if each[0] != u.DECLARED]


def _is_taken_inside(scopes: Iterable[u.Scope], name: str) -> bool:
    return any(each[0] in (u.GLOBAL, u.NONLOCAL) for scope in scopes for each in scope.names.get(name, ()))


def _captured(name: str) -> Hazard:
    return Hazard(Reason.CAPTURED.of(name=name), True)


def _cannot(name: str, why: str) -> Hazard:
    return Hazard(Reason.NO_IMPORT.of(name=name, why=why), True)
