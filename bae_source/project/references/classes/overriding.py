"""Members of the classes below a class that hide its own, however they are bound.

class S(Base):
    def go(self): …                  in its suite
    def __init__(self): self.go = f  by its methods, where those of Base assign no such attribute
S.go = other                         assigned; sure where the module of S does so itself
setattr(S, "go", other)              likewise
@renamed                             by code that runs when S is made and names `go`
class S(Base): …
D = type("D", (Base,), {…})          by a call that makes a class, whose members are not read

Invariants:
- an assignment to a possible class above the member's own, or to one instance, is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Certainty, Reference
from bae_source.project.references.classes import class_hooks
from bae_source.project.references.classes.hierarchy import Subclass, as_class, sought_class
from bae_source.project.references.classes.lineage import Listed, call_references, lineage, once
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.types.values import NOT_KNOWN, Class, OfClass, Value, Values
from bae_source.syntax.names import uses as u

_SETS = rb"\.\s*%b\s*(?:[:,)\]]|(?:[-+*/|&@%%^<>]{1,2})?=(?!=)|in\b)|[\"']%b[\"']"


def overriding(project: Project, sought: Sought) -> Listed:
    """Return the members of classes below those that `sought` is a member of which hide it, as they are answered.

    What a call makes may have one too: the call is listed in its place.
    """
    return once(project, ("overrides", sought), lambda: _overriding(project, sought))


def _overriding(project: Project, sought: Sought) -> Listed:
    hierarchies = [lineage(project, sought_class(project, owner)) for owner in sorted(sought.classes, key=str)]
    unreadable = {path: error for hierarchy in hierarchies for path, error in hierarchy.unreadable}
    below = {subclass.of: subclass for hierarchy in hierarchies for subclass in hierarchy.below}
    found = [reference for subclass in below.values() for reference in _own(project, sought, subclass)]
    found += _assigned(project, sought, below, unreadable)
    found += (each for hierarchy in hierarchies for each in call_references(project, hierarchy))
    by_place = {(each.address, each.module, each.line): each for each in found}
    in_order = sorted(by_place.values(), key=lambda each: (each.module, each.line, each.address))
    return Listed(tuple(in_order), tuple(sorted(unreadable.items(), key=lambda each: each[0])))


def _own(project: Project, sought: Sought, subclass: Subclass) -> Iterator[Reference]:
    """Yield the members that a class has by its suite, else by its methods, or by what runs when it is made."""
    owner, mentioned = subclass.of, subclass.mentioned
    scope = project.uses(owner.path).scopes[owner.scope]
    found = {
        reference.address: structs.replace(reference, certainty=mentioned.certainty, why=mentioned.why)
        for binding in scope.names.get(sought.name, ())
        for reference in [project.bound(owner.path, owner.scope, sought.name, binding)]
    }
    is_assigned_above = any(
        sought.name in project.uses(each.path).scopes[each.scope].attributes for each in sought.classes
    )
    if not found and not is_assigned_above:
        for binding in scope.attributes.get(sought.name, ()):
            reference = project.bound(owner.path, owner.scope, sought.name, binding)
            found[reference.address] = structs.replace(reference, certainty="unsure", why=Reason.SET_BY_METHOD.of())
    orders, of = project.inference.orders, Symbol(owner.path, owner.scope, sought.name)
    if why := class_hooks.why_not(orders, owner, sought.name, of, of_class=False):
        yield structs.replace(as_class(project, subclass), kind="definition", certainty="unsure", why=why)
    yield from found.values()


def _assigned(
    project: Project, sought: Sought, below: Mapping[Class, Subclass], unreadable: dict[str, ResourceError]
) -> Iterator[Reference]:
    """Yield the assignments to classes below by code outside their methods."""
    naming = project.workspace.index.naming([sought.word])
    unreadable.update(naming.unreadable)
    word = re.escape(sought.word.encode())
    sets = re.compile(_SETS % (word, word))
    for path in naming.paths if below else ():
        try:
            content = project.workspace.content(path) or b""
            if sets.search(content) or not content.isascii():
                yield from _assigned_in(project, sought, below, path)
        except ResourceError as error:
            unreadable[path] = error


def _assigned_in(project: Project, sought: Sought, below: Mapping[Class, Subclass], path: str) -> Iterator[Reference]:
    for _, _, receiver, line in project.uses(path).bound.get(sought.name, ()):
        values = _receivers(project, path, receiver) if receiver > 0 else frozenset()
        for value in values:
            owner = _class_assigned_to(value, sought, below)
            if owner is not None:
                is_sure = len(values) == 1 and isinstance(value, Class) and _is_at_top(project, owner, path, line)
                certainty: Certainty = below[owner].mentioned.certainty if is_sure else "unsure"
                why = (Reason.SET_WHEN_RUN if owner in below else Reason.SET_BELOW).of()
                place = project.definition(path, 0, line, "write", certainty, "" if certainty == "sure" else why)
                address = project.address(owner.path, project.uses(owner.path).scopes[owner.scope].owner)
                yield structs.replace(place, address=f"{address}.{sought.word}")


def _receivers(project: Project, path: str, number: int) -> Values:
    """Return what an expression may be; of a name that loops of a module bind what they bind it to."""
    values, form = project.inference.values(path, number), project.uses(path).expressions[number]
    if values == NOT_KNOWN and form[0] == u.NAME and not form[2]:
        bindings = project.uses(path).scopes[0].names.get(str(form[1]), ())
        return values.union(*(project.inference.values(path, items) for how, items, *_ in bindings if how == u.OTHER))
    return values


def _class_assigned_to(value: Value, sought: Sought, below: Mapping[Class, Subclass]) -> Class | None:
    """Return the class below, or the class itself where one below it may be meant, that an attribute is assigned to."""
    if isinstance(value, OfClass):
        return value.of if value.of in below or (value.of in sought.classes and not value.exact) else None
    return value if isinstance(value, Class) and value in below else None


def _is_at_top(project: Project, owner: Class, path: str, line: int) -> bool:
    """Return whether the module of a class assigns something on a line itself, and no function of it."""
    return path == owner.path and any(
        mention.line == line and not mention.scope and mention.kind == u.WRITE
        for mentions in project.uses(path).mentions.values()
        for mention in mentions
    )
