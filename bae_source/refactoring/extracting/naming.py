"""Names for what is extracted: whether they are free where they would be bound, and where they would be read.

    def load(): …            `load` is taken; so is `list`, which Python has; and `size` in a function that has a
                             variable of that name; a method's name in the classes above its own and below it

Invariants:
- a name that means something already, anywhere in its reach, is refused.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator

from bae_source.errors import Refused
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.text import counted
from bae_source.project.files.layout import import_name
from bae_source.project.references.classes.hierarchy import sought_class
from bae_source.project.references.classes.lineage import lineage
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.references.search.sole import is_standard
from bae_source.project.references.types.values import STANDARD, Class
from bae_source.project.workspace import Workspace
from bae_source.refactoring.extracting.hazards import refused
from bae_source.refactoring.extracting.selecting import Piece
from bae_source.refactoring.extracting.starred import read_by_star
from bae_source.syntax.flow.scopes import Level, Scope
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.static_values import names_bound


def check_free_in_module(workspace: Workspace, module: ModuleFile, pieces: Iterable[Piece], name: str) -> None:
    """See that a name can be one of a module, and means that where it is read.

    Parameters:
        pieces: the places where it is read.

    Raises:
        Refused: `name_collision`.
    """
    pieces = list(pieces)
    code = pieces[0].code
    if hasattr(builtins, name):
        raise taken(name, f"Python has a built-in of that name, which {module.name} would not see any more")
    if name in code.scopes.module.bound:
        raise taken(name, f"{module.name} binds it on line {_bound_at(code, code.scopes.module, name)}")
    if workspace.census.find(f"{import_name(module)}.{name}"):
        raise taken(name, f"{module.name} has a module of that name")
    check_unread(workspace, module, code, name)
    for piece in pieces:
        _check_not_hidden(piece, name)
    for node in code.scopes.around:
        is_star = isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names)
        if is_star and isinstance(node, ast.stmt) and node.lineno > pieces[0].line:
            raise taken(name, f"the star import on line {node.lineno} of {module.name} may bind it anew")


def check_unread(workspace: Workspace, module: ModuleFile, code: Code, name: str) -> None:
    """See that no code reads a name, by way of a module that is to bind it, which means something else now.

    Raises:
        Refused: `name_collision`.
    """
    if where := read_by_star(workspace, module, name):
        raise taken(name, f"{where} reads it, and gets all names of {module.name} by a star import")
    for node, scope in code.scopes.around.items():
        if isinstance(node, ast.Name) and node.id == name and scope.find(name) is None:
            raise taken(name, f"line {node.lineno} of {module.name} reads it from elsewhere")


def check_free_in_function(piece: Piece, frame: Scope, name: str) -> None:
    """See that a name can be a variable of a function.

    Raises:
        Refused: `name_collision`.
    """
    _check_not_hidden(piece, name)
    for node, scope in piece.code.scopes.around.items():
        names = [node.id] if isinstance(node, ast.Name) else node.names if isinstance(node, _DECLARING) else []
        if name in names and frame in scope.chain:
            line = getattr(node, "lineno", 0)
            raise taken(name, f"line {line} names something else by it")


_DECLARING = (ast.Global, ast.Nonlocal)


def check_free_in_class(
    workspace: Workspace, module: ModuleFile, node: ast.ClassDef, code: Code, name: str
) -> list[Notice]:
    """See that a name can be a member of a class, and return what is not known of that.

    Raises:
        Refused: `name_collision` where the class has such a member, or one above or below it.
    """
    if name in code.scopes.opened[node].bound:
        raise taken(name, f"{node.name} binds it on line {_bound_at(code, code.scopes.opened[node], name)}")
    project = project_of(workspace)
    owner = _class_at(project, module, node)
    if owner is None:
        return []
    if project.inference.orders.is_protocol(owner):
        raise refused(
            f"{node.name} is a protocol, and what has no {name} would not fit it any more", "Use kind function."
        )
    mangled = u.mangled(name, node.name)
    hierarchy = lineage(project, sought_class(project, owner))
    orders = [project.inference.orders.of(each) for each in (owner, *(each.of for each in hierarchy.below))]
    outside = {each for order in orders for each in order.outside}
    for each in dict.fromkeys(each for order in orders for each in order.classes):  # other bases of subclasses, too
        scope = project.uses(each.path).scopes[each.scope]
        if mangled in scope.names or mangled in scope.attributes:
            raise taken(name, f"{project.address(each.path, scope.owner)} has a member of that name")
    unread = [path for path, _ in hierarchy.unreadable]
    if unread:
        text = f"Classes below {node.name} may have a member {name}: {counted(len(unread), 'file')} could not be read."
        return [Notice("not_searched", text), *_unknown(outside, node.name, name)]
    return list(_unknown(outside, node.name, name))


def _unknown(outside: Iterable[str], owner: str, name: str) -> Iterator[Notice]:
    """Yield that classes outside of the project may have a member of that name, where that cannot be ruled out."""
    for each in sorted(outside):
        has = _has_member(each, name)
        if has:
            raise taken(name, f"{each}, which {owner} or a class below it is derived from, has a member of that name")
        if has is None and each.partition(".")[0] not in STANDARD:
            yield Notice("not_searched", f"{owner} is derived from {each}, which was not asked for a member {name}.")
        elif has is None and is_standard(name):
            what = f"{each}, which {owner} or a class below it is derived from, may have a member of that name"
            raise taken(name, what)


def _has_member(base: str, name: str) -> bool | None:
    """Return whether a class outside of the project has a member; None where it is not loaded, so that is not known."""
    module, _, last = base.rpartition(".")
    if (module or "builtins").partition(".")[0] not in STANDARD:
        return None
    found = getattr(sys.modules.get(module or "builtins"), last, None)
    return hasattr(found, name) if isinstance(found, type) else None


def _class_at(project: Project, module: ModuleFile, node: ast.ClassDef) -> Class | None:
    for scope in project.uses(module.path).scopes:
        for binding in scope.names.get(node.name, ()):
            if binding[0] == u.CLASS and binding[3] == node.lineno:
                return Class(module.path, binding[1])
    return None


def _check_not_hidden(piece: Piece, name: str) -> None:
    """See that no scope around a piece binds a name which is seen there."""
    scopes = piece.code.scopes
    inner = scopes.around[piece.nodes[0]]
    for scope in inner.chain:
        is_seen = scope is inner or scope.level is not Level.CLASS
        if is_seen and scope is not scopes.module and name in scope.bound:
            raise taken(name, f"a variable of that name is bound on line {_bound_at(piece.code, scope, name)}")


def _bound_at(code: Code, scope: Scope, name: str) -> int:
    for node, around in code.scopes.around.items():
        if around is scope and name in names_bound(node):
            place = node if hasattr(node, "lineno") else code.parents.get(node)
            return int(getattr(place, "lineno", 0))
    return int(getattr(scope.node, "lineno", 1))


def taken(name: str, why: str) -> Refused:
    """Return the refusal of a name."""
    return Refused("name_collision", f"{name} is taken: {why}", unchanged=True, hints=["Choose another name."])
