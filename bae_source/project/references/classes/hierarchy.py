"""Classes below a class, as what finds them (`lineage`) returns them, and what to look for to find a class."""

from __future__ import annotations

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.reference import Reference
from bae_source.project.references.meaning.meaning import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.meaning.stubs import with_stub
from bae_source.project.references.types.values import Class
from bae_source.syntax.names import uses as u


class Subclass(Struct, frozen=True):
    """A class below another: where it names its base, and how sure that is."""

    of: Class
    mentioned: Mentioned


class Hierarchy(Struct, frozen=True, kw_only=True):
    """The classes below a class.

    Parameters:
        below: those next to it first.
        unreadable: files that may hold more, with the reason.
        cut_short: whether there are more, because too many files had to be looked into.
        made: where calls make classes below it, which have no class statement.
    """

    below: tuple[Subclass, ...]
    unreadable: tuple[tuple[str, ResourceError], ...]
    cut_short: bool = False
    made: tuple[Mentioned, ...] = ()


def sought_class(project: Project, of: Class) -> Sought:
    """Return what to look for to find a class."""
    scopes = project.uses(of.path).scopes
    address = project.address(of.path, scopes[of.scope].owner)
    around = scopes[of.scope].parent
    if scopes[around].kind == u.TYPE_SCOPE:
        around = scopes[around].parent
    around, name = next(
        (number, name)
        for number in (around, *range(len(scopes)))  # `global` lets a function bind a class elsewhere
        for name, bindings in scopes[number].names.items()
        if any(binding[:2] == (u.CLASS, of.scope) for binding in bindings)
    )
    module = project.workspace.census.module(of.path)
    sought = Sought(
        name=name,
        word=address.rpartition(".")[2].partition("[")[0],
        module=module.name if module else "",
        dotted=address,
        meanings=frozenset({Symbol(of.path, around, name)}),
        classes=frozenset({Class(of.path, around)}) if scopes[around].kind == u.CLASS_SCOPE else frozenset(),
    )
    return with_stub(project, sought)


def as_class(project: Project, subclass: Subclass) -> Reference:
    """Return a class below another as it is answered: its own address, where its class statement is."""
    uses = project.uses(subclass.of.path)
    scope = uses.scopes[subclass.of.scope]
    name = sought_class(project, subclass.of).name
    line = next(
        binding[3]
        for around in uses.scopes
        for binding in around.names.get(name, ())
        if binding[:2] == (u.CLASS, subclass.of.scope)
    )
    return project.definition(
        subclass.of.path, scope.owner, line, "base", subclass.mentioned.certainty, subclass.mentioned.why
    )
