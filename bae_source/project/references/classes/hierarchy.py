"""Classes below a class, as what finds them (`lineage`) returns them, and what to look for to find a class."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.reference import Reference
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought, sought_by
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
        cut_short: whether there are more, because too many files had to be read.
        by_calls: where calls make classes below it, which have no class statement.
    """

    below: tuple[Subclass, ...]
    unreadable: tuple[tuple[str, ResourceError], ...]
    cut_short: bool = False
    by_calls: tuple[Mentioned, ...] = ()


def sought_class(project: Project, of: Class) -> Sought:
    """Return what to look for to find a class."""
    around, name, _ = _bound(project, of)
    address = project.address(of.path, project.uses(of.path).scopes[of.scope].owner)
    sought = sought_by(project.uses, project.address, Symbol(of.path, around, name))
    return with_stub(project, replace(sought, dotted=address))


def as_class(project: Project, subclass: Subclass) -> Reference:
    """Return a class below another as it is answered: its own address, where its class statement is."""
    of, mentioned = subclass.of, subclass.mentioned
    owner = project.uses(of.path).scopes[of.scope].owner
    return project.definition(of.path, owner, _bound(project, of)[2], "base", mentioned.certainty, mentioned.why)


def _bound(project: Project, of: Class) -> tuple[int, str, int]:
    """Return the scope that binds a class, its name there, and the line of its statement."""
    scopes = project.uses(of.path).scopes
    around = scopes[of.scope].parent
    if scopes[around].kind == u.TYPE_SCOPE:
        around = scopes[around].parent
    return next(
        (number, name, binding.line)
        for number in (around, *range(len(scopes)))  # `global` lets a function bind a class elsewhere
        for name, bindings in scopes[number].names.items()
        for binding in bindings
        if binding[:2] == (u.CLASS, of.scope)
    )
