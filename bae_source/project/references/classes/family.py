"""Everything that has to have one name together: a symbol, and of a method those that override it or are overridden.

    class Base:                     Base.send, A.send and B.send are one family: a call of any may reach the others
        def send(self): ...
    class A(Base):                  so is every accessor of a property, and what a stub declares
        def send(self): ...
    class B(A):
        send = other

Invariants:
- a class whose bases are not all known may get the name from outside: a notice says so, and the family is not complete.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.classes.hierarchy import sought_class
from bae_source.project.references.classes.lineage import lineage
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.meaning.stubs import handed_on, with_stub
from bae_source.project.references.types.values import Class, in_order
from bae_source.syntax.names import uses as u

_NO_BINDING = (u.IMPORTED, u.GLOBAL, u.NONLOCAL)


class Family(Struct, frozen=True, kw_only=True):
    """The definitions that are renamed together.

    Parameters:
        sought: what a search for all of it looks for.
        symbols: where each of it is bound, in a fixed order.
        classes: of members, every class that has one of them, by itself or from above.
        outside: of members, names of the classes outside the project that are above these.
        is_local: whether it is a name of a function.
        local: the file outside which nothing can name it; "" where others can.
        fixtures: those of it that are fixtures of pytest.
        unreadable: files that may hold more of the family, and why they could not be read.
    """

    sought: Sought
    symbols: tuple[Symbol, ...]
    classes: tuple[Class, ...] = ()
    outside: tuple[str, ...] = ()
    is_local: bool = False
    local: str = ""
    fixtures: frozenset[Symbol] = frozenset()
    unreadable: tuple[tuple[str, ResourceError], ...] = ()

    def stored(self, new: str) -> str:
        """Return a new name as Python stores it: that of a private member is mangled as the old one is."""
        name, word = self.sought.name, self.sought.word
        return u.mangled(new, name.removesuffix(word).lstrip("_")) if name != word else new


def family_of(project: Project, resolved: Resolved) -> Family:
    """Return the family of a symbol."""
    sought = structs.replace(with_stub(project, sought_of(project.names, resolved)), one_of_several=False)
    sought = structs.replace(sought, bound_again=False, accessor="")
    symbols = {each for each in sought.meanings if isinstance(each, Symbol)}
    if sought.classes:
        return members_of(project, sought, symbols)
    if declared := handed_on(project, sought):
        sought = structs.replace(sought, meanings=sought.meanings | declared)
        symbols |= declared
    kinds = {project.uses(each.path).scopes[each.scope].kind for each in symbols}
    is_local = bool(kinds) and kinds <= {u.FUNCTION_SCOPE, u.INNER_SCOPE, u.TYPE_SCOPE}
    local = resolved.module.path if is_local else ""
    return Family(sought=sought, symbols=_sorted(symbols), is_local=is_local, local=local)


def members_of(project: Project, sought: Sought, symbols: set[Symbol]) -> Family:
    """Return the family of a member: up to every class above that has it, and down again to every class below."""
    orders = project.inference.orders
    having, classes, outside = set(sought.classes), set[Class](), set[str]()
    unreadable: dict[str, ResourceError] = {}
    waiting = sorted(sought.classes, key=in_order)
    while waiting:
        owner = waiting.pop()
        hierarchy = lineage(project, sought_class(project, owner))
        unreadable.update(hierarchy.unreadable)
        for each in (owner, *(subclass.of for subclass in hierarchy.below)):
            classes.add(each)
            order = orders.of(each)
            outside |= order.outside
            for node in order.classes:
                if node not in having and _binds(project, node, sought.name):
                    having.add(node)
                    waiting.append(node)
    for owner in having:
        symbols |= set(_symbols(project, owner, sought.name))
    meanings = frozenset({*sought.meanings, *symbols})
    every = tuple(sorted(classes, key=in_order))
    owners = (project.address(each.path, project.uses(each.path).scopes[each.scope].owner) for each in every)
    names = dict.fromkeys(f"{owner}.{sought.word}" for owner in owners)
    names.pop(sought.dotted, None)
    return Family(
        sought=structs.replace(sought, meanings=meanings, classes=frozenset(having), others=tuple(names)),
        symbols=_sorted(symbols),
        classes=every,
        outside=tuple(sorted(outside)),
        unreadable=tuple(sorted(unreadable.items())),
    )


def _symbols(project: Project, owner: Class, name: str) -> Iterator[Symbol]:
    if _binds(project, owner, name):
        yield Symbol(owner.path, owner.scope, name)


def _binds(project: Project, owner: Class, name: str) -> bool:
    scope = project.uses(owner.path).scopes[owner.scope]
    bound = any(binding.how not in _NO_BINDING for binding in scope.names.get(name, ()))
    return bound or name in scope.attributes


def _sorted(symbols: set[Symbol]) -> tuple[Symbol, ...]:
    return tuple(sorted(symbols, key=in_order))
