"""Names that mean something before a rewrite, or that its replacement brings: whether they do so afterwards.

    http.get($URL)               `http` has to be bound where the new code stands: by the module, or by an added import
    lambda $A: $B -> str($B)     what binds $A goes, so a name in $B may mean nothing

Invariants:
- a name that means nothing there, or is a local one where the module or Python has another, refuses the change.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence

from bae_source.errors import Refused, ResourceError
from bae_source.model.text import listed
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import Spliced
from bae_source.refactoring.planning.unresolved import lost_names
from bae_source.syntax.names import uses as u
from bae_source.syntax.patterns.pattern import Pattern
from bae_source.syntax.rewrite.postcondition import replaced_and_written
from bae_source.syntax.templates.template import Template, holes_of
from bae_source.syntax.text.source import Source

_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
_TARGETS = (ast.Name, ast.Tuple, ast.List, ast.Starred)
"""Expressions that may be what an assignment binds."""


def free_names(pattern: Pattern, template: Template) -> frozenset[str]:
    """Return the names that a replacement takes from around it, and its pattern does not have."""
    holes = {template.code[each.span.start : each.span.end].lstrip("*") for each in template.holes}
    bound = {
        each.id if isinstance(each, ast.Name) else each.arg
        for each in ast.walk(template.tree)
        if (isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)) or isinstance(each, ast.arg)
    }
    read = {each.id for each in ast.walk(template.tree) if isinstance(each, ast.Name)}
    own = {each.id for node in pattern.nodes for each in ast.walk(node) if isinstance(each, ast.Name)}
    return frozenset(read - holes - bound - own)


def check_names(after: Workspace, spliced: Sequence[Spliced], names: frozenset[str]) -> dict[str, list[str]]:
    """Return the names of a replacement that mean nothing where it stands, each with its places.

    Parameters:
        after: the project as the change leaves it.
        spliced: what changes, added imports, too.

    Raises:
        Refused: `unsafe_change` where one is a local name and the module has another.
    """
    project = project_of(after)
    unbound: dict[str, list[str]] = {}
    hidden: dict[str, list[str]] = {}
    for each in spliced:
        for name, line, scope in _read_in(project, each, names):
            bound = project.names.scope_of(each.module.path, scope, name)
            place = f"{each.module.name}:{line}"
            is_built_in = hasattr(builtins, name)
            if bound is None and not is_built_in and not project.uses(each.module.path).stars:
                unbound.setdefault(name, []).append(place)
            elif bound and (is_built_in or project.uses(each.module.path).scopes[0].names.get(name)):
                hidden.setdefault(name, []).append(place)
    if hidden:
        raise Refused(
            "unsafe_change",
            f"Names of the replacement are local ones where it would stand: {by_name(hidden)}",
            unchanged=True,
            hints=["Import it under another name, and use that in the replacement; or rename the local one first."],
        )
    return unbound


def lost_in(before: Workspace, after: Workspace, spliced: Sequence[Spliced]) -> dict[str, list[str]]:
    """Return the names that mean nothing once the code that binds them is rewritten, each with its places.

    Parameters:
        before, after: the project as it is, and as the change leaves it.
        spliced: what changes.
    """
    earlier, later = project_of(before), project_of(after)
    found: dict[str, list[str]] = {}
    for each in spliced:
        text = before.source(each.module).text
        touched = "\n".join(f"{span.cut(text)}\n{new}" for span, new in each.splices)
        for name, lines in lost_names(earlier, later, each.module.path, touched).items():
            found.setdefault(name, []).extend(f"{each.module.name}:{line}" for line in lines)
    return found


def unbinding(
    workspace: Workspace, pattern: Pattern, template: Template, spliced: Sequence[Spliced]
) -> Sequence[Spliced]:
    """Return the changes that may take away what binds a name, or take code out of its reach or into another scope.

    A call for a call binds nothing, so thousands of those need no look at each name of their files; but for a `:=` in
    what goes.
    """
    if not (_binds_nothing(pattern.nodes) and _binds_nothing([*template.tree.body])):
        return spliced
    if {hole.name for hole in holes_of(pattern.code)} <= {hole.name for hole in template.holes}:
        return ()
    return [each for each in spliced if _has_walrus(workspace.source(each.module), each)]


def _has_walrus(source: Source, each: Spliced) -> bool:
    return any(":=" in span.cut(source.text) for span, _ in each.splices)


def _binds_nothing(nodes: Sequence[ast.AST]) -> bool:
    return all(
        isinstance(node, (ast.expr, ast.Expr)) and not isinstance(node, (*_TARGETS, *_SCOPES)) for node in nodes
    ) and not any(isinstance(each, _SCOPES) for node in nodes for each in ast.walk(node))


def by_name(places: Mapping[str, Sequence[str]]) -> str:
    """Return names with their places as a sentence has them."""
    return "; ".join(f"{name} in {listed(several)}" for name, several in sorted(places.items()))


def _read_in(project: Project, spliced: Spliced, names: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """Yield where new code reads some names: name, line and scope."""
    path = spliced.module.path
    try:
        mentions = project.uses(path).mentions
    except ResourceError:
        return
    _, written = replaced_and_written(spliced.splices)
    lines = Source(project.workspace.content(path) or b"").lines
    new = {line for span in written for line in range(lines.number(span.start), lines.number(span.end) + 1)}
    for name in sorted(names & mentions.keys()):
        for line, _, scope, kind, receiver, _ in mentions[name]:
            if line in new and receiver == u.PLAIN and kind not in (u.STRING, u.MENTION, u.EXPORT, u.IMPORT):
                yield name, line, scope


def imports_of(workspace: Workspace, name: str) -> list[str]:
    """Return the import that a name may be meant by: a module of the project, or one of Python."""
    if workspace.census.find(name):
        return [f"import {name}"]
    modules = [each.name for path in workspace.census.paths if (each := workspace.census.module(path))]
    below = [each for each in modules if each.endswith(f".{name}")]
    if len(below) == 1:
        return [f"from {below[0].rpartition('.')[0]} import {name}"]
    return [f"import {name}"] if name in sys.stdlib_module_names and not below else []
