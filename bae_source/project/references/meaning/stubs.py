"""The declarations in the stub of a module: for a search they are what the module defines under that name.

class Client: …             in app/client.py
class Client: …             in app/client.pyi: declares it, so a rename has to change this line
def make() -> Client: …     in app/client.pyi: refers to it
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.model.address import Segment
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Sought, scopes_inside
from bae_source.project.references.types.values import in_order
from bae_source.syntax.names import uses as u

_NO_DECLARATION = (u.IMPORTED, u.GLOBAL, u.NONLOCAL)


def with_stub(project: Project, sought: Sought) -> Sought:
    """Return what to look for, with what stubs of its module declare under its name."""
    declared = _declared(project, sought)
    return structs.replace(sought, meanings=sought.meanings | declared) if declared else sought


def handed_on(project: Project, sought: Sought) -> frozenset[Symbol]:
    """Return what stubs of modules that import it declare under its name, as if it were theirs."""
    census = project.workspace.census
    if not census.stubs or sought.classes or sought.is_module:
        return frozenset()
    found: set[Symbol] = set()
    for path in project.workspace.index.naming([sought.word]).paths:
        code = path.removesuffix("i")
        if path.endswith(".pyi") and code in census.stamps:
            meanings = project.names.attribute(code, sought.name)
            own = Symbol(path, 0, sought.name)
            if meanings and meanings <= sought.meanings and own not in meanings and _declares(project, own):
                found.add(own)
    return frozenset(found)


def _declares(project: Project, symbol: Symbol) -> bool:
    try:
        bindings = project.uses(symbol.path).scopes[symbol.scope].names.get(symbol.name, ())
    except ResourceError:
        return False
    return any(binding.how not in _NO_DECLARATION for binding in bindings)


def declarations(project: Project, sought: Sought) -> Iterator[Reference]:
    """Yield the places where stubs of its module declare the target."""
    for symbol in sorted(_declared(project, sought), key=in_order):
        scope = project.uses(symbol.path).scopes[symbol.scope]
        for binding in scope.names.get(symbol.name, ()):
            reference = project.bound(symbol.path, symbol.scope, symbol.name, binding)
            yield structs.replace(reference, certainty="unsure", why=Reason.DECLARED_BY_STUB.of())


def _declared(project: Project, sought: Sought) -> frozenset[Symbol]:
    """Return what stubs of its module bind under its name; one that cannot be analysed counts as a candidate."""
    census = project.workspace.census
    if not census.stubs or sought.is_module or not census.find(sought.module):
        return frozenset()  # without code, what a stub has is itself the target
    parts = tuple(sought.module.split("."))
    inside = [part.partition("[")[0] for part in sought.dotted.removeprefix(f"{sought.module}.").split(".")]
    found: set[Symbol] = set()
    for stub in census.layout.stubs(parts):
        if stub.length != len(parts) or stub.file is None or stub.file.path not in census.stamps:
            continue
        path = stub.file.path
        try:
            scopes = project.uses(path).scopes
        except ResourceError:
            continue
        for number in scopes_inside(scopes, [Segment(part) for part in inside[:-1]]):
            bindings = scopes[number].names.get(sought.name, ())
            if any(binding.how not in _NO_DECLARATION for binding in bindings):
                found.add(Symbol(path, number, sought.name))
    return frozenset(found)
