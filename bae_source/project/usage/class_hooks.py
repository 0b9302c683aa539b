"""What code that runs when a class is made puts into it, or takes out: that of its metaclass, and `__init_subclass__`.

    class Sealed(type):
        def __init__(cls, *args): cls.send = sealed        `C().send` may be this
    class C(metaclass=Sealed):
        def send(self): …
    class Base:
        def __init_subclass__(cls): setattr(cls, "send", traced)
    class D(Base):
        def send(self): …                                  likewise

Invariants:
- code that names the attribute is seen, also as a string; code that works out names is not, or no model of a large
  framework would have anything of its own;
- what a class has itself, and its `__init_subclass__` sets anew for those below, is one attribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bae_source.project.usage.class_order import ClassOrders
from bae_source.project.usage.meaning import Symbol
from bae_source.project.usage.metaclasses import metaclasses
from bae_source.project.usage.values import Class
from bae_source.syntax import uses as u
from bae_source.syntax.uses_growing import headers

_MAKING = ("__new__", "__init__", "__prepare__")
"""Methods of a metaclass that run when a class is made."""
_BELOW = "__init_subclass__"
_ASKING = ("__getattribute__",)

_Hook = tuple[Class, int]
"""The class that has a method, and the scope of the method."""


class ClassHooks:
    """Tells whether a class may have lost what its suite binds.

    Parameters:
        orders: tells which classes are above which.
    """

    def __init__(self, orders: ClassOrders) -> None:
        self._orders = orders
        self._known: dict[Class, tuple[_Hook, ...]] = {}
        self._metaclasses: dict[Class, tuple[Class, ...]] = {}

    def why_not(self, of: Class, name: str, found: Symbol, *, of_class: bool) -> str:
        """Say why an attribute may be another one than a class of an order binds; nothing where that is not seen.

        Parameters:
            of: the class in whose order the attribute was found.
            found: what it was found to be.
            of_class: whether the class itself is asked for it, and not an instance.
        """
        owner = Class(found.path, found.scope)
        for around, scope in self._hooks(of):
            if owner not in self._orders.of(around).nodes and self._names(around.path, scope, name):
                return f"code that runs when {self._called(of)} is made sets or takes away its {name}"
        if of_class and any(self._methods(each, _ASKING) for each in self._above(of)):
            return f"the metaclass of {self._called(of)} has a __getattribute__, which may give something else"
        return ""

    def _hooks(self, of: Class) -> tuple[_Hook, ...]:
        """Return what runs when a class is made, as far as the project has it."""
        if of not in self._known:
            above = (hook for each in self._orders.of(of).classes[1:] for hook in self._own(each, (_BELOW,)))
            made = (hook for each in self._above(of) for hook in self._methods(each, _MAKING))
            self._known[of] = (*above, *made)
        return self._known[of]

    def _above(self, of: Class) -> tuple[Class, ...]:
        """Return the project's metaclasses of a class."""
        if of not in self._metaclasses:
            orders = self._orders
            self._metaclasses[of] = tuple(metaclasses(orders.uses, orders.of(of), orders.values))
        return self._metaclasses[of]

    def _methods(self, of: Class, names: tuple[str, ...]) -> list[_Hook]:
        return [hook for each in self._orders.of(of).classes for hook in self._own(each, names)]

    def _own(self, of: Class, names: tuple[str, ...]) -> Iterator[_Hook]:
        """Yield the methods of some names that a class's suite defines."""
        bound = headers(self._orders.uses(of.path))[of.scope].names
        for name in names:
            yield from ((of, first) for how, first, *_ in bound.get(name, ()) if how == u.FUNCTION)

    def _names(self, path: str, hook: int, name: str) -> bool:
        """Say whether a function sets or deletes an attribute of that name, or holds it as a string."""
        uses = self._orders.uses(path)
        scopes = headers(uses)
        changed = (each for each in uses.mentions.get(name, ()) if each[3] in (u.WRITE, u.DELETE) and each[4] > 0)
        return any(_is_inside(scopes, each[2], hook) for each in changed) or any(
            text.text == name and text.owner == scopes[hook].owner for text in uses.strings.get(name, ())
        )

    def _called(self, of: Class) -> str:
        uses = self._orders.uses(of.path)
        return uses.owners[headers(uses)[of.scope].owner].rpartition(".")[2].partition("[")[0]


def _is_inside(scopes: Sequence[u.Scope], scope: int, hook: int) -> bool:
    """Say whether a scope is that of a function, or stands in it."""
    while scope > hook:
        scope = scopes[scope].parent
    return scope == hook
