"""Attributes that a class sets on its instances, as things to ask about: they have no definition but assignments.

class Tool:
    def __init__(self, val):
        self.val = val            app.Tool.val, where the suite of the class defines no `val`
"""

from __future__ import annotations

import re

from msgspec import structs

from bae_source.errors import LookupFailed, ResourceError
from bae_source.model.address import Segment
from bae_source.model.call import Call
from bae_source.model.outcome import Outcome
from bae_source.model.reference import Reference, Shown
from bae_source.project.naming.bound_names import resolve_to_ask
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.references.meaning.sought import Mentioned, scopes_inside
from bae_source.project.references.types.values import Class, Instance
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import Kind
from bae_source.syntax.outline.locate import Group
from bae_source.syntax.outline.tree import Tree


def resolve_asked(workspace: Workspace, target: str) -> Resolved:
    """Resolve a name that is asked about; that of an attribute of instances has a group without definitions.

    Raises:
        ResourceError: as `resolve`.
    """
    try:
        return resolve_to_ask(workspace, target)
    except LookupFailed as error:
        found = attribute(workspace, target, error)
        if found is None:
            _refuse_inside_local(workspace, target, error)
            raise
        return found


def _refuse_inside_local(workspace: Workspace, target: str, error: LookupFailed) -> None:
    """Refuse a name below that of a local variable, which has no definitions.

    Raises:
        LookupFailed: it is one.
    """
    outer = target.rpartition(".")[0]
    if error.code != "symbol_not_found" or not outer:
        return
    try:
        owner = resolve_to_ask(workspace, outer)
    except ResourceError:
        return
    if owner.group is not None and not owner.group.members:
        what = f"{owner.address} is a local variable or a parameter, and no definition: nothing is defined in it."
        hint = Call("references", target=owner.address, then="lists what names it.")
        raise LookupFailed("symbol_not_found", what, hints=[hint]) from error


def attribute(workspace: Workspace, target: str, error: LookupFailed) -> Resolved | None:
    """Return the attribute of instances that a name means; None where its owner is no class that sets it.

    Parameters:
        error: why the name means nothing else.

    Raises:
        LookupFailed: it is set by a class above.
    """
    outer, _, name = target.rpartition(".")
    if error.code != "symbol_not_found" or not outer or not name.isidentifier():
        return None
    try:
        owner = resolve(workspace, outer)
    except LookupFailed:
        return None
    if owner.group is None or owner.address.part is not None or owner.module.path.endswith(".pyi"):
        return None
    if not any(_may_set(owner.tree, member, name) for member in owner.group.members):
        return None
    qualname = (*owner.address.qualname, Segment(name))
    address = structs.replace(owner.address, qualname=qualname)
    found = structs.replace(owner, address=address, group=Group(members=(), qualname=qualname))
    project, path = project_of(workspace), owner.module.path
    if sought_of(project.names, found).classes:
        return found
    scopes = project.uses(path).scopes
    for number in scopes_inside(scopes, owner.address.qualname):
        if scopes[number].kind == u.CLASS_SCOPE and not error.candidates:
            _refuse_inherited(project, Class(path, number), str(owner.address), name)
    return None


def _may_set(tree: Tree, member: int, name: str) -> bool:
    """Return whether a definition is a class that may have an attribute: its text mentions one, or it has bases."""
    definition = tree.outline.definitions[member]
    if definition.kind is not Kind.CLASS:
        return False
    header = re.compile(r"class\s+\w+\s*[\[(]").match(tree.text, definition.keyword)
    return header is not None or bool(re.search(rf"\.\s*{re.escape(name)}\b", tree.text))


def assignments(project: Project, resolved: Resolved) -> list[Reference]:
    """Return the statements of a class that bind an attribute of its instances."""
    sought = sought_of(project.names, resolved)
    found: list[Reference] = []
    for symbol in sorted(sought.meanings, key=str):
        assert isinstance(symbol, Symbol)
        uses = project.uses(symbol.path)
        lines = {line for *_, line in uses.scopes[symbol.scope].attributes.get(symbol.name, ())}
        for mention in uses.mentions.get(symbol.name, ()):
            if mention.line in lines and mention.kind == u.WRITE and mention.receiver > 0:
                found.append(project.shown(Mentioned(symbol.path, mention, "sure", ""), project.lines(symbol.path)))
    return sorted(found, key=lambda each: (each.line, each.column))


def read_attribute(workspace: Workspace, target: str, error: LookupFailed) -> Outcome | None:
    """Return the list of the statements that set an attribute of instances; None for any other name.

    Parameters:
        error: why the name means nothing else.
    """
    found = attribute(workspace, target, error)
    if found is None:
        return None
    places = assignments(project_of(workspace), found)
    text = "".join(f"{each.module}:{each.line}: {each.text}\n" for each in places)
    address = str(found.address)
    shown = [
        Shown(module=each.module, address=address, line=each.line, kind="attribute", etag=None) for each in places[:1]
    ]
    return Outcome(status="answer", text=text, address=address, found=tuple(shown))


def _refuse_inherited(project: Project, owner: Class, address: str, name: str) -> None:
    """Raise where a class above sets an attribute."""
    above = [member.symbol for member in project.inference.members(Instance(owner, False), name)]
    if above:
        of = (project.address(each.path, project.uses(each.path).scopes[each.scope].owner) for each in above)
        raise LookupFailed(
            "symbol_not_found",
            f"{address} sets no {name} itself; it inherits it.",
            hints=["Ask about it where it is set."],
            candidates=[f"{each}.{name}" for each in dict.fromkeys(of)],
        )
