"""Members of classes that fit a protocol without being below it, so that a change of the protocol's leaves them behind.

class Sender(Protocol):          Sender.send
def send(self): ...
class Mail:                      Mail.send fits it, if Mail has all that Sender has
def send(self): ...
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.types.values import Class
from bae_source.syntax.names import uses as u

_NO_MEMBER = (u.IMPORTED, u.GLOBAL, u.NONLOCAL)


def fitting(project: Project, family: Family) -> Iterator[Reference]:
    """Yield the definitions that may stand for a member of a protocol, but for those of its own family."""
    orders = project.inference.orders
    protocols = [Class(each.path, each.scope) for each in family.symbols]
    protocols = [each for each in protocols if each in family.classes and orders.is_protocol(each)]
    if not protocols:
        return
    known = set(family.classes)
    name = family.sought.name
    for path in project.workspace.index.naming([family.sought.word]).paths:
        try:
            scopes = project.uses(path).scopes
        except ResourceError:
            continue  # the search for references names it
        for number, scope in enumerate(scopes):
            own = Class(path, number)
            if scope.kind != u.CLASS_SCOPE or name not in scope.names or own in known:
                continue
            fitted = next((each for each in protocols if _fits(project, own, each)), None)
            bindings = [each for each in scope.names[name] if each[0] not in _NO_MEMBER]
            if fitted is not None and bindings:
                owner = project.address(fitted.path, project.uses(fitted.path).scopes[fitted.scope].owner)
                found = project.bound(path, number, name, bindings[0])
                yield structs.replace(found, certainty="unsure", why=Reason.MAY_FIT.of(owner=owner))


def _fits(project: Project, own: Class, protocol: Class) -> bool:
    """Return whether a class has all that a protocol names."""
    scope = project.uses(protocol.path).scopes[protocol.scope]
    names = [each for each in (*scope.names, *scope.attributes) if not each.startswith("__")]
    order = project.inference.orders.of(own)
    return all(project.inference.orders.members(order, each, of_instance=True) for each in names)
